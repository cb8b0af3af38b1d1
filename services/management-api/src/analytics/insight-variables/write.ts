// Creates, changes and deletes insight variables. Checks the name, type and default value, and records changes in the
// activity log.

import { recordActivity } from '@millrace/accounts';
import type { Sql, Transaction } from '@millrace/db';
import { findValueProblem } from '@millrace/insights';
import { AppError } from '@millrace/runtime';
import type { Static } from 'typebox';
import type { AddressedProject } from '../../access/addressed-store.ts';
import { lockEnvironment } from '../../sql/lock-environment.ts';
import { refusal } from '../insights/rules.ts';
import type { newVariable, variableChanges } from './schema.ts';
import {
  countVariables,
  deleteVariable,
  findVariable,
  insertVariable,
  updateVariable,
  type VariableFields,
  type VariableRow,
} from './store.ts';

interface Author {
  userId: number;
  target: AddressedProject;
}

/** Maximum number of variables per environment. It is limited because every SQL query reads all variables. */
const maxVariables = 500;

/**
 * Creates a variable.
 * @throws AppError `invalid` naming the field
 */
export async function createVariable(
  tx: Transaction,
  author: Author,
  body: Static<typeof newVariable>,
): Promise<VariableRow> {
  const { environmentId } = author.target;
  await lockEnvironment(tx, environmentId);
  if ((await countVariables(tx, environmentId)) >= maxVariables)
    throw new AppError('invalid', `A project can have at most ${maxVariables} variables.`, { code: 'limit_exceeded' });
  const codeName = codeNameOf(body.name);
  if (codeName.replaceAll('_', '') === '') throw refusal('name', 'The name must contain a letter or a digit.');
  const fields = checked({ default_value: null, values: null, ...body });
  const id = await insertVariable(tx, { environmentId, userId: author.userId, codeName }, fields);
  if (id === undefined) throw new AppError('invalid', 'Variable with name already exists', { code: 'invalid_input' });
  const after = await requireVariable(tx, environmentId, id);
  await recordVariableActivity(tx, author, { after });
  return after;
}

/**
 * Changes only the given fields. The code name never changes.
 * @throws AppError `not_found`, or `invalid` naming the field
 */
export async function changeVariable(
  tx: Transaction,
  author: Author,
  { id, changes }: { id: string; changes: Static<typeof variableChanges> },
): Promise<VariableRow> {
  const { environmentId } = author.target;
  await lockEnvironment(tx, environmentId);
  const before = await requireVariable(tx, environmentId, id);
  await updateVariable(tx, id, checked({ ...fieldsOf(before), ...changes }));
  const after = await requireVariable(tx, environmentId, id);
  await recordVariableActivity(tx, author, { before, after });
  return after;
}

/** Deletes a variable. Queries that use it will fail. @throws AppError `not_found`. */
export async function removeVariable(tx: Transaction, author: Author, id: string): Promise<void> {
  const { environmentId } = author.target;
  await lockEnvironment(tx, environmentId);
  const before = await requireVariable(tx, environmentId, id);
  await deleteVariable(tx, id);
  await recordVariableActivity(tx, author, { before });
}

/** Finds a variable. @throws AppError `not_found` */
export async function requireVariable(sql: Sql, environmentId: number, id: string): Promise<VariableRow> {
  const row = await findVariable(sql, environmentId, id);
  if (row === undefined) throw new AppError('not_found', 'Not found.');
  return row;
}

/** Converts a name to a code name as PostHog does: keeps letters and digits, and replaces spaces with underscores. */
const codeNameOf = (name: string) =>
  name
    .replace(/[^\p{L}\p{N} ]/gu, '')
    .replaceAll(' ', '_')
    .toLowerCase();

/**
 * Checks that a variable's values and default value have the variable's type.
 * @returns the fields to store
 * @throws AppError `invalid` naming `values` or `default_value`
 */
function checked({ values: sent, ...fields }: VariableFields): VariableFields {
  const isList = fields.type === 'List';
  const values = sent === null || sent.length === 0 ? null : sent;
  if (isList && values === null) throw refusal('values', 'A variable of the type List needs at least one value.');
  if (!isList && values !== null) throw refusal('values', 'Only variables of the type List have `values`.');
  const longest = Math.max(0, ...(values ?? []).map((value) => String(value).length));
  if (longest > 1000) throw refusal('values', 'A value must not have more than 1000 characters.', 'max_length');
  const value = fields.default_value ?? null;
  const problem = value === null ? null : findValueProblem({ type: fields.type, values }, value);
  if (problem !== null) throw refusal('default_value', problem);
  return { ...fields, default_value: value, values };
}

const fieldsOf = ({ name, type, default_value, values }: VariableRow): VariableFields => ({
  name,
  type,
  default_value,
  values,
});

async function recordVariableActivity(
  tx: Transaction,
  { userId, target: { organizationId, environmentId } }: Author,
  { before, after }: { before?: VariableRow; after?: VariableRow },
): Promise<void> {
  const row = after ?? before;
  if (row === undefined) return;
  await recordActivity(tx, {
    organizationId,
    environmentId,
    scope: 'InsightVariable',
    itemId: row.id,
    activity: before === undefined ? 'created' : after === undefined ? 'deleted' : 'updated',
    actor: { userId },
    name: row.name,
    ...(before && after && { change: { before: fieldsOf(before), after: fieldsOf(after) } }),
  });
}
