import { isObject } from '@millrace/contracts';
/**
 * Fields of PostHog's API and their types, with PostHog's names (docs/api/README.md#routes-and-fields). A type ends in
 * `?` if the field can be null, or is missing until something happens.
 */
export type ContractTable = Record<string, ContractType | `${ContractType}?`>;
export type ContractType =
  | 'boolean'
  | 'integer'
  | 'string'
  | 'uuid'
  | 'email'
  | 'timestamp'
  | 'object'
  | 'array'
  | 'User';

export const userTable: ContractTable = {
  id: 'integer',
  uuid: 'uuid',
  distinct_id: 'string',
  first_name: 'string',
  last_name: 'string',
  email: 'email',
  is_email_verified: 'boolean',
  hedgehog_config: 'object',
  role_at_organization: 'string',
};

const isString = (value: unknown): value is string => typeof value === 'string';
const types: Record<Exclude<ContractType, 'User'>, (value: unknown) => boolean> = {
  boolean: (value) => typeof value === 'boolean',
  integer: Number.isInteger,
  string: isString,
  uuid: (value) => isString(value) && /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(value),
  email: (value) => isString(value) && /^\S+@\S+\.\S+$/.test(value),
  timestamp: (value) => isString(value) && /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{6})?Z$/.test(value),
  object: isObject,
  array: Array.isArray,
};

/**
 * Returns the differences between a record and the table: fields that are missing, that have the wrong type, or that
 * are not in the table.
 */
export function deviations(table: ContractTable, record: Record<string, unknown>, path = ''): string[] {
  const fields = Object.entries(table).flatMap(([field, type]) => {
    const name = `${path}${field}`;
    if (!Object.hasOwn(record, field)) return [`${name} is missing`];
    return deviationsOfField(name, type, record[field]);
  });
  const unlisted = Object.keys(record).filter((field) => !Object.hasOwn(table, field));
  return [...fields, ...unlisted.map((field) => `${path}${field} is not in the table`)];
}

function deviationsOfField(name: string, type: ContractTable[string], value: unknown): string[] {
  if (type.endsWith('?') && value === null) return [];
  const plain = type.replace('?', '') as ContractType;
  if (plain !== 'User') return types[plain](value) ? [] : [`${name} is no ${plain}: ${JSON.stringify(value)}`];
  return types.object(value)
    ? deviations(userTable, value as Record<string, unknown>, `${name}.`)
    : [`${name} is no User: ${JSON.stringify(value)}`];
}
