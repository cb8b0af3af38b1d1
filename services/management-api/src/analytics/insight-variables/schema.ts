// Schemas for insight variables, which are the placeholders `{variables.name}` in SQL insights.

import { formatDateTime, offsetPageSchema, offsetQuery, orNull } from '@millrace/http';
import { variableTypes } from '@millrace/insights';
import { Type } from 'typebox';
import { embeddedUserExample } from '../../identity/embedded-users/embedded-user.ts';
import type { VariableRow } from './store.ts';

export const variablesPath = '/insight_variables';
export const variableTags: [string] = ['insight variables'];

const scalar = Type.Union([Type.String(), Type.Number()]);
const fields = {
  name: Type.String({ minLength: 1, maxLength: 400, description: 'Name of the variable.' }),
  type: Type.Enum(variableTypes, { description: 'Type of the value. A `List` variable has one of its `values`.' }),
  default_value: Type.Unknown({
    description: 'Value in queries that do not set the variable. Null: the variable is null there.',
  }),
  values: orNull(
    Type.Array(scalar, { maxItems: 500 }),
    'For the type `List`: the texts and numbers to choose from. Null for all other types.',
  ),
};

export const insightVariable = Type.Object(
  {
    id: Type.String({ format: 'uuid', description: 'ID of the variable.' }),
    name: fields.name,
    type: fields.type,
    default_value: fields.default_value,
    created_by: orNull(Type.Integer(), 'ID of the user who created the variable, or null if that user was deleted.'),
    created_at: Type.String({ format: 'date-time', description: 'When the variable was created.' }),
    code_name: Type.String({
      description:
        'Name in SQL: `{variables.code_name}`. It is made of the first `name` and never changes, because queries contain it.',
    }),
    values: fields.values,
  },
  { title: 'InsightVariable' },
);

export const variablePage = offsetPageSchema(insightVariable);

const optional = { default_value: Type.Optional(fields.default_value), values: Type.Optional(fields.values) };
export const newVariable = Type.Object(
  { name: fields.name, type: fields.type, ...optional },
  { title: 'InsightVariableToCreate' },
);
export const variableChanges = Type.Object(
  { name: Type.Optional(fields.name), type: Type.Optional(fields.type), ...optional },
  { title: 'InsightVariableChanges' },
);

export const variableParams = Type.Object({
  id: Type.String({ format: 'uuid', description: 'ID of the variable.' }),
});
export const variableListQuery = Type.Object({
  ...offsetQuery,
  page: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: 10_000,
      description: 'Page number, starting at 1. Used in place of `offset`.',
    }),
  ),
});

export const newVariableExample = { name: 'Plan', type: 'List', default_value: 'pro', values: ['free', 'pro'] };
export const variableExample = {
  id: '0193f0c5-7a4e-7000-8000-0000000000fa',
  name: 'Plan',
  type: 'List' as const,
  default_value: 'pro',
  created_by: embeddedUserExample.id,
  created_at: '2026-11-21T12:00:00Z',
  code_name: 'plan',
  values: ['free', 'pro'],
};

export function toVariable({ created_at: at, ...row }: VariableRow) {
  return { ...row, values: row.values && [...row.values], created_at: formatDateTime(at) };
}
