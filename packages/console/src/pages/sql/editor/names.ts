// Finds the names that can occur at a position in a query.

/** A field in a `DatabaseSchemaQuery` response. */
export interface SchemaField {
  name: string;
  type: string;
  /** The table that contains the object's fields, possibly through a join. */
  table?: string;
  fields?: string[];
}

export interface SqlSchema {
  tables: Record<string, { name: string; fields: Record<string, SchemaField> }>;
  functions: { name: string; type: 'scalar' | 'aggregate' | 'window' }[];
}

/** The event, person or group to which the properties at a path belong. */
export interface PropertyOwner {
  of: 'event' | 'person' | 'group';
  groupType?: number;
}

type Place =
  | { is: 'table'; name: string }
  | { is: 'object'; table: string; field: SchemaField }
  | ({ is: 'properties' } & PropertyOwner);

const name = '[A-Za-z_]\\w*';
const sources = new RegExp(`\\b(?:from|join)\\s+(${name})(?:\\s+(?:as\\s+)?(${name}))?`, 'gi');
const notAlias =
  /^(where|prewhere|group|order|limit|offset|on|using|left|right|inner|full|cross|join|having|union|array|final|sample|window|as)$/i;

/** Returns the tables that a query reads, by table name and alias. */
export function findTables(query: string): Map<string, string> {
  const tables = new Map<string, string>();
  for (const [, table = '', alias] of query.matchAll(sources)) {
    tables.set(table, table);
    if (alias !== undefined && !notAlias.test(alias)) tables.set(alias, table);
  }
  return tables;
}

export function findDefinedNames(query: string): string[] {
  const subqueries = [...query.matchAll(new RegExp(`(${name})\\s+as\\s*\\(`, 'gi'))].map(([, one = '']) => one);
  const aliases = [...query.matchAll(new RegExp(`\\bas\\s+(${name})`, 'gi'))].map(([, one = '']) => one);
  return [...new Set([...subqueries, ...aliases])];
}

/** Splits a path such as `e.properties.` into `e` and `properties`, and removes quotes. */
export const splitPath = (path: string): string[] =>
  [...path.matchAll(/`([^`]*)`|"([^"]*)"|([\w$]+)/g)].map(([, first, second, third]) => first ?? second ?? third ?? '');

/**
 * Returns the table or object at a path, whose fields can follow, or the owner of the properties that can follow.
 * @returns null if the path does not exist
 */
export function resolveFieldPath(path: readonly string[], query: string, schema: SqlSchema): Place | null {
  const [first = '', ...others] = path;
  const tables = findTables(query);
  const table = tables.get(first);
  if (table !== undefined && schema.tables[table]) return walk({ is: 'table', name: table }, others, schema);
  for (const one of new Set(tables.size === 0 ? Object.keys(schema.tables) : tables.values())) {
    const found = schema.tables[one]?.fields[first] && walk({ is: 'table', name: one }, path, schema);
    if (found) return found;
  }
  return null;
}

function walk(start: Place, path: readonly string[], schema: SqlSchema): Place | null {
  let place = start;
  for (const [at, step] of path.entries()) {
    const field = listFields(place, schema).find((one) => one.name === step);
    if (field === undefined) return null;
    if (field.type === 'json') return { is: 'properties', ...ownerOf(place, path[at - 1] ?? '') };
    if (field.type !== 'lazy_table' && field.type !== 'virtual_table') return null;
    place = { is: 'object', table: field.table ?? '', field };
  }
  return place;
}

function ownerOf(place: Place, before: string): PropertyOwner {
  const group = /^group_(\d)$/.exec(before)?.[1];
  if (group !== undefined) return { of: 'group', groupType: Number(group) };
  const table = place.is === 'properties' ? '' : place.is === 'table' ? place.name : place.table;
  if (table === 'groups') return { of: 'group' };
  return { of: table === 'persons' || before === 'poe' || before === 'person' ? 'person' : 'event' };
}

export function listFields(place: Place, schema: SqlSchema): SchemaField[] {
  if (place.is === 'properties') return [];
  if (place.is === 'table') return Object.values(schema.tables[place.name]?.fields ?? {});
  const all = schema.tables[place.table]?.fields ?? {};
  return (place.field.fields ?? []).map((one) => all[one] ?? { name: one, type: one === 'properties' ? 'json' : '' });
}

/** Returns a name in SQL syntax, and quotes it if necessary. */
export const quoteName = (one: string) => (/^[A-Za-z_$][\w$]*$/.test(one) ? one : `\`${one.replaceAll('`', '``')}\``);
