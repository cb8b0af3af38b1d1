// SQL that reads event and property definitions.

import type { Columns, Sql } from '@millrace/db';
import type { EmbeddedUserRow } from '../../identity/embedded-users/embedded-user.ts';
import { embeddedUserColumn } from '../../identity/embedded-users/embedded-user-store.ts';
import { type Conditions, createConditions } from '../../sql/conditions.ts';
import { limitPageBytes } from '../../sql/limit-page-bytes.ts';

/** The columns that users can edit, and the users who verified and last updated the definition. */
interface EditedRow {
  id: string;
  verified_by: EmbeddedUserRow | null;
  updated_by: EmbeddedUserRow | null;
}
type EditedColumns = 'name' | 'description' | 'tags' | 'hidden' | 'verified' | 'verified_at' | 'updated_at';

export interface EventDefinitionRow
  extends EditedRow,
    Columns<'event_definition', EditedColumns | 'created_at' | 'last_seen_at'> {
  owner: EmbeddedUserRow | null;
}

export interface PropertyDefinitionRow
  extends EditedRow,
    Columns<'property_definition', EditedColumns | 'type' | 'group_type_index' | 'property_type'> {
  /** Whether any of the requested events has the property, or null if the request does not name events. */
  is_seen: boolean | null;
}

/** Values of `property_definition.type`, as the consumer writes them. */
const propertyTypes = { event: 1, person: 2, group: 3 } as const;
type PropertyTypeName = keyof typeof propertyTypes;

export const definitionOrders = ['name', '-name', 'last_seen_at', '-last_seen_at'] as const;
export type DefinitionOrder = (typeof definitionOrders)[number];

const orderColumns: Record<DefinitionOrder, string> = {
  name: '',
  '-name': 'd.name DESC, ',
  last_seen_at: 'd.last_seen_at ASC NULLS FIRST, ',
  '-last_seen_at': 'd.last_seen_at DESC NULLS LAST, ',
};

interface DefinitionFilter {
  order?: DefinitionOrder;
  id?: string;
  search?: string;
  names?: string[];
  excludedNames?: string[];
  tags?: string[];
  isVerified?: boolean;
  excludesHidden?: boolean;
}

export interface PropertyDefinitionFilter extends DefinitionFilter {
  type?: PropertyTypeName;
  group_type_index?: number;
  isNumerical?: boolean;
  /** True to list only properties that contain the value of a feature flag (`$feature/…`). False to omit them. */
  isFeatureFlag?: boolean;
  /** Whether to omit properties that SDKs set automatically. */
  excludesCore?: boolean;
  /**
   * The event names that determine `is_seen`. With `isFilter`, properties that these events do not have are omitted.
   */
  seen?: { names: string[]; isFilter: boolean };
}

export interface Window {
  limit: number;
  offset: number;
}

/** SQL that derives a UUID from a string (version 8 of RFC 9562). The same string always results in the same UUID. */
const uuidOf = (text: string) => `overlay(overlay(md5(${text}) PLACING '8' FROM 13) PLACING '8' FROM 17)::uuid`;
export const eventDefinitionId = uuidOf(`'event:' || d.project_id || ':' || d.name`);
export const propertyDefinitionId = uuidOf(
  `'property:' || d.project_id || ':' || d.type || ':' || d.group_type_index || ':' || d.name`,
);

const editedColumns = `d.name, d.description, d.tags, d.hidden, d.verified, d.verified_at, d.updated_at,
  ${embeddedUserColumn('v')} AS verified_by, ${embeddedUserColumn('u')} AS updated_by`;
const editors = 'LEFT JOIN "user" v ON v.id = d.verified_by_id LEFT JOIN "user" u ON u.id = d.updated_by_id';

/** Returns a page of event definitions and the total count. By default, sorted by name. */
export async function listEventDefinitions(
  sql: Sql,
  projectId: number,
  filter: DefinitionFilter,
  window: Window,
): Promise<{ count: number; rows: EventDefinitionRow[] }> {
  const where = createConditions();
  where.add(`d.project_id = ${where.parameter(projectId)}`);
  if (filter.id !== undefined) where.add(`${eventDefinitionId} = ${where.parameter(filter.id)}::uuid`);
  addFilter(where, filter);
  return listPage(sql, where, {
    columns: `${eventDefinitionId} AS id, ${editedColumns}, d.created_at, d.last_seen_at, ${embeddedUserColumn('o')} AS owner`,
    table: 'event_definition d',
    users: `${editors} LEFT JOIN "user" o ON o.id = d.owner_id`,
    order: `${orderColumns[filter.order ?? 'name']}d.name`,
    large: ['description', 'tags', 'verified_by', 'updated_by', 'owner'],
    window,
  });
}

/** Returns a page of property definitions and the total count. By default, sorted by name. */
export async function listPropertyDefinitions(
  sql: Sql,
  projectId: number,
  filter: PropertyDefinitionFilter,
  window: Window,
): Promise<{ count: number; rows: PropertyDefinitionRow[] }> {
  const where = createConditions();
  where.add(`d.project_id = ${where.parameter(projectId)}`);
  if (filter.id !== undefined) where.add(`${propertyDefinitionId} = ${where.parameter(filter.id)}::uuid`);
  if (filter.type !== undefined) where.add(`d.type = ${where.parameter(propertyTypes[filter.type])}`);
  if (filter.group_type_index !== undefined) {
    where.add(`d.group_type_index = ${where.parameter(filter.group_type_index)}`);
  }
  if (filter.isNumerical !== undefined) {
    where.add(`(d.property_type IS NOT DISTINCT FROM 'Numeric') = ${where.parameter(filter.isNumerical)}::boolean`);
  }
  if (filter.isFeatureFlag !== undefined) {
    where.add(`starts_with(d.name, '$feature/') = ${where.parameter(filter.isFeatureFlag)}::boolean`);
  }
  if (filter.excludesCore) where.add(`NOT (starts_with(d.name, '$') OR starts_with(d.name, 'utm_'))`);
  const seen = filter.seen && `d.name = ANY (${where.parameter(filter.seen.names)}::text[])`;
  if (seen !== undefined) where.add(filter.seen?.isFilter ? seen : `(${seen}) IS NOT NULL`);
  addFilter(where, filter);
  return listPage(sql, where, {
    columns: `${propertyDefinitionId} AS id, ${editedColumns}, d.type, d.group_type_index, d.property_type, ${seen ?? 'NULL::boolean'} AS is_seen`,
    table: 'property_definition d',
    users: editors,
    order: `${orderColumns[filter.order ?? 'name']}d.name, d.type, d.group_type_index`,
    large: ['description', 'tags', 'verified_by', 'updated_by'],
    window,
  });
}

function addFilter(where: Conditions, filter: DefinitionFilter): void {
  if (filter.names !== undefined) where.add(`d.name = ANY (${where.parameter(filter.names)}::text[])`);
  if (filter.excludedNames !== undefined) {
    where.add(`d.name <> ALL (${where.parameter(filter.excludedNames)}::text[])`);
  }
  if (filter.tags !== undefined) where.add(`d.tags && ${where.parameter(filter.tags)}::text[]`);
  if (filter.isVerified !== undefined) where.add(`d.verified = ${where.parameter(filter.isVerified)}::boolean`);
  if (filter.excludesHidden) where.add('NOT d.hidden');
  // A name matches if it contains every word of the search string, in any order and ignoring case.
  for (const word of filter.search?.split(/\s+/).filter((one) => one !== '') ?? []) {
    where.add(`strpos(lower(d.name), lower(${where.parameter(word)}::text)) > 0`);
  }
}

async function listPage<Row extends object>(
  sql: Sql,
  where: Conditions,
  list: { columns: string; table: string; users: string; order: string; large: string[]; window: Window },
): Promise<{ count: number; rows: Row[] }> {
  const { columns, table, users, order, large, window } = list;
  const [counted] = await sql.query<{ count: number }>(
    `SELECT count(*)::int AS count FROM ${table} WHERE ${where.text()}`,
    [...where.values],
  );
  const rows = await sql.query<Row & Record<string, unknown>>(
    limitPageBytes(
      `SELECT ${columns} FROM ${table} ${users} WHERE ${where.text()}
        ORDER BY ${order} LIMIT ${where.parameter(window.limit)} OFFSET ${where.parameter(window.offset)}`,
      large,
    ),
    where.values,
  );
  return { count: counted?.count ?? 0, rows };
}
