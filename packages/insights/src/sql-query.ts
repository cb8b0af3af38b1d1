// Schemas for SQL queries that run, and for SQL that is only checked.

import { type Static, Type } from 'typebox';
import {
  commonFields,
  filters,
  flagSchema,
  metadataFields,
  modifiers,
  objectSchema,
  textSchema,
} from './query-parts.ts';

const scalar = Type.Union([Type.String(), Type.Number(), Type.Boolean(), Type.Null()]);
const sqlVariable = objectSchema('HogQLVariable', {
  variableId: textSchema('ID of the variable. Variables are found by `code_name`.'),
  code_name: Type.String({ description: 'Name of the variable in the text.' }),
  value: Type.Optional(Type.Unknown({ description: 'Value of the variable.' })),
  isNull: Type.Optional(Type.Boolean({ description: 'Whether the variable is null.' })),
});
export const sqlQuery = objectSchema('HogQLQuery', {
  kind: Type.Literal('HogQLQuery'),
  query: Type.String({ minLength: 1, maxLength: 65_536, description: 'The SQL text.' }),
  values: Type.Optional(
    Type.Record(Type.String(), Type.Union([scalar, Type.Array(scalar, { maxItems: 10_000 })]), {
      description: 'Values for `{name}` in the text. They are bound as constants.',
    }),
  ),
  variables: Type.Optional(
    Type.Record(Type.String(), sqlVariable, { description: 'Values for `{variables.code_name}`, by variable ID.' }),
  ),
  filters: Type.Optional(
    objectSchema('HogQLFilters', {
      dateRange: Type.Optional(
        objectSchema('HogQLDateRange', {
          date_from: textSchema('Start.'),
          date_to: textSchema('End, exclusive.'),
          explicitDate: flagSchema('Has no effect, because both bounds are exact times.'),
        }),
      ),
      properties: filters,
      filterTestAccounts: commonFields.filterTestAccounts,
    }),
  ),
  explain: Type.Optional(
    Type.Literal(false, { description: 'Only false is supported: plans would show the internal tables.' }),
  ),
  modifiers,
  ...metadataFields,
});
export type SqlQuery = Static<typeof sqlQuery>;

export const sqlMetadata = objectSchema('HogQLMetadata', {
  kind: Type.Literal('HogQLMetadata'),
  language: Type.Enum(['hogQL', 'hogQLExpr'], { description: '`hogQL` for a query, `hogQLExpr` for an expression.' }),
  query: Type.String({ maxLength: 200_000, description: 'The SQL text to check.' }),
  sourceQuery: Type.Optional(
    Type.Object(
      { kind: Type.String() },
      {
        additionalProperties: true,
        description:
          'For `hogQLExpr`: the query that will contain the expression. In a `HogQLQuery`, it is checked as a further column. ' +
          'In an `ActorsQuery` it reads persons, and in all other queries events, which is the default.',
      },
    ),
  ),
  ...Type.Pick(sqlQuery, ['variables', 'filters', 'modifiers']).properties,
  debug: Type.Optional(Type.Boolean({ description: 'Has no effect.' })),
  ...metadataFields,
});
export type SqlMetadataQuery = Static<typeof sqlMetadata>;

export const databaseSchemaQuery = objectSchema('DatabaseSchemaQuery', {
  kind: Type.Literal('DatabaseSchemaQuery'),
  modifiers,
  ...metadataFields,
});
export type DatabaseSchemaQuery = Static<typeof databaseSchemaQuery>;

/** Any query that consists of SQL. Unlike insights, these queries have no plan. */
export type AnySqlQuery = SqlQuery | SqlMetadataQuery | DatabaseSchemaQuery;
