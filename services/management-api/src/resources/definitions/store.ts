import type { Sql } from '@millrace/db';
import { type Conditions, createConditions } from '../../sql/conditions.ts';

export interface EventDefinitionRow {
  id: string;
  name: string;
  created_at: Date;
  last_seen_at: Date;
}

export interface PropertyDefinitionRow {
  id: string;
  /** Null when no events were asked about. */
  is_seen: boolean | null;
  name: string;
  property_type: string | null;
}

/** As the consumer numbers them. */
const propertyTypes = { event: 1, person: 2, group: 3 } as const;
type PropertyTypeName = keyof typeof propertyTypes;

export interface PropertyDefinitionFilter {
  id?: string;
  type?: PropertyTypeName;
  group_type_index?: number;
  search?: string;
  names?: string[];
  excludedNames?: string[];
  isNumerical?: boolean;
  /** Only properties that hold a flag's value on events, or only others. */
  isFeatureFlag?: boolean;
  /** Without those that SDKs set themselves. */
  excludesCore?: boolean;
  /** Properties of the events that the client asks about. */
  seen?: { names: string[]; isFilter: boolean };
}

export interface Window {
  limit: number;
  offset: number;
}

/** A uuid that is always the same for the same text: version 8 of RFC 9562. */
const uuidOf = (text: string) => `overlay(overlay(md5(${text}) PLACING '8' FROM 13) PLACING '8' FROM 17)::uuid`;
const eventDefinitionId = uuidOf(`'event:' || project_id || ':' || name`);
const propertyDefinitionId = uuidOf(
  `'property:' || project_id || ':' || type || ':' || group_type_index || ':' || name`,
);

/** Definitions of event names, by name. */
export async function listEventDefinitions(
  sql: Sql,
  projectId: number,
  filter: { id?: string; search?: string },
  window: Window,
): Promise<{ count: number; rows: EventDefinitionRow[] }> {
  const where = createConditions();
  where.add(`project_id = ${where.parameter(projectId)}`);
  if (filter.id !== undefined) where.add(`${eventDefinitionId} = ${where.parameter(filter.id)}::uuid`);
  addSearch(where, filter.search);
  return listPage(sql, where, {
    columns: `${eventDefinitionId} AS id, name, created_at, last_seen_at`,
    table: 'event_definition',
    order: 'name',
    window,
  });
}

/** Definitions of properties, by name. */
export async function listPropertyDefinitions(
  sql: Sql,
  projectId: number,
  filter: PropertyDefinitionFilter,
  window: Window,
): Promise<{ count: number; rows: PropertyDefinitionRow[] }> {
  const where = createConditions();
  where.add(`project_id = ${where.parameter(projectId)}`);
  if (filter.id !== undefined) where.add(`${propertyDefinitionId} = ${where.parameter(filter.id)}::uuid`);
  if (filter.type !== undefined) where.add(`type = ${where.parameter(propertyTypes[filter.type])}`);
  if (filter.group_type_index !== undefined) {
    where.add(`group_type_index = ${where.parameter(filter.group_type_index)}`);
  }
  if (filter.names !== undefined) where.add(`name = ANY (${where.parameter(filter.names)}::text[])`);
  if (filter.isNumerical !== undefined) {
    where.add(`(property_type IS NOT DISTINCT FROM 'Numeric') = ${where.parameter(filter.isNumerical)}::boolean`);
  }
  if (filter.excludedNames !== undefined) where.add(`name <> ALL (${where.parameter(filter.excludedNames)}::text[])`);
  if (filter.isFeatureFlag !== undefined) {
    where.add(`starts_with(name, '$feature/') = ${where.parameter(filter.isFeatureFlag)}::boolean`);
  }
  if (filter.excludesCore) where.add(`NOT (starts_with(name, '$') OR starts_with(name, 'utm_'))`);
  const seen = filter.seen && `name = ANY (${where.parameter(filter.seen.names)}::text[])`;
  if (seen !== undefined) where.add(filter.seen?.isFilter ? seen : `(${seen}) IS NOT NULL`);
  addSearch(where, filter.search);
  return listPage(sql, where, {
    columns: `${propertyDefinitionId} AS id, name, property_type, ${seen ?? 'NULL::boolean'} AS is_seen`,
    table: 'property_definition',
    order: 'name, type, group_type_index',
    window,
  });
}

/** Every word of the search stands somewhere in the name, in any case. */
function addSearch(where: Conditions, search: string | undefined): void {
  for (const word of search?.split(/\s+/).filter((one) => one !== '') ?? []) {
    where.add(`strpos(lower(name), lower(${where.parameter(word)}::text)) > 0`);
  }
}

async function listPage<Row extends object>(
  sql: Sql,
  where: Conditions,
  { columns, table, order, window }: { columns: string; table: string; order: string; window: Window },
): Promise<{ count: number; rows: Row[] }> {
  const [counted] = await sql.query<{ count: number }>(
    `SELECT count(*)::int AS count FROM ${table} WHERE ${where.text()}`,
    [...where.values],
  );
  const rows = await sql.query<Row & Record<string, unknown>>(
    `SELECT ${columns} FROM ${table} WHERE ${where.text()}
      ORDER BY ${order} LIMIT ${where.parameter(window.limit)} OFFSET ${where.parameter(window.offset)}`,
    where.values,
  );
  return { count: counted?.count ?? 0, rows };
}
