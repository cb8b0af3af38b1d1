// Describes the tables and functions that SQL queries can use, for autocompletion in editors.

import { describeFunctions } from './functions/index.ts';
import { identifier } from './names.ts';
import { type Entry, type Fields, tables } from './schema.ts';

/** A column or an object of columns, in PostHog's API format. */
interface SchemaField {
  name: string;
  /** The field as it is written in a query. */
  hogql_value: string;
  type: 'string' | 'integer' | 'boolean' | 'datetime' | 'json' | 'lazy_table' | 'virtual_table';
  schema_valid: true;
  /** The table that contains an object's columns. */
  table?: string;
  fields?: string[];
}

interface SchemaTable {
  id: string;
  name: string;
  type: 'posthog';
  fields: Record<string, SchemaField>;
}

export interface DatabaseSchema {
  tables: Record<string, SchemaTable>;
  /** Always empty. In PostHog, this list contains joins with warehouse tables, which Millrace does not have. */
  joins: never[];
  functions: ReturnType<typeof describeFunctions>;
}

export function databaseSchema(): DatabaseSchema {
  const described = Object.entries(tables).map(([name, { fields }]): [string, SchemaTable] => [
    name,
    { id: name, name, type: 'posthog', fields: fieldsOf(fields, name) },
  ]);
  return { tables: Object.fromEntries(described), joins: [], functions: describeFunctions() };
}

function fieldsOf(fields: Fields, table: string): Record<string, SchemaField> {
  return Object.fromEntries([...fields].map(([name, entry]) => [name, fieldOf(name, entry, table)]));
}

const types = { text: 'string', uuid: 'string', int: 'integer', bool: 'boolean', time: 'datetime' } as const;

function fieldOf(name: string, entry: Entry, table: string): SchemaField {
  const field = { name, hogql_value: identifier(name), schema_valid: true } as const;
  if (entry.is === 'column') return { ...field, type: types[entry.type] };
  if (entry.is === 'properties') return { ...field, type: 'json' };
  const joined = joinedTable(name);
  const fields = [...entry.fields.keys()];
  if (joined === null) return { ...field, type: 'virtual_table', table, fields };
  return { ...field, type: 'lazy_table', table: joined, fields };
}

/** Returns the table that must be joined to read an object, or null if the object is part of the same table. */
function joinedTable(name: string): string | null {
  if (name === 'person') return 'persons';
  if (name === 'session') return 'sessions';
  if (name === 'pdi') return 'person_distinct_ids';
  return /^group_\d$/.test(name) ? 'groups' : null;
}
