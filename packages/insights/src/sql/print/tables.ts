// Prints stored tables. Only `tableText` and `sessionsText` print stored tables, and they always add the condition on
// the project.

import { propertyColumns } from '../../event-store/clickhouse/tables.ts';
import { buildCondition, buildFromClause } from '../../event-store/conditions.ts';
import type { Dialect } from '../../event-store/dialect.ts';
import type { Condition, Property } from '../../event-store/selection.ts';
import { type Fragment, sql } from '../../event-store/sql.ts';
import type { TableColumn, TableName, TableRelation } from '../tree.ts';
import { compactJson, compactObject } from './casts.ts';
import type { Printing } from './context.ts';
import { sessionColumn, sessionJoin, sessionsText } from './sessions.ts';

/** Prints a table as a subquery that is limited to the project and has only the columns that the query reads. */
export function tableText({ id, table, columns, bounds = [] }: TableRelation, printing: Printing): Fragment {
  const { dialect, projectId, keys } = printing;
  const read = [...columns];
  const selected = read.map(
    ([number, column]) => sql`${columnText(column, table, printing)} AS ${sql.numbered('c', number)}`,
  );
  const names = neededBy(read.map(([, column]) => column));
  const shown = selected.length === 0 ? sql`1 AS one` : sql.join(selected, ', ');
  if (table === 'sessions')
    return sql`(SELECT ${shown} FROM ${sessionsText(names.session, bounds, printing)}) AS ${sql.numbered('s', id)}`;
  const sessions = names.session.length === 0 ? sql`` : sql` ${sessionJoin(names.session, bounds, printing)}`;
  const from = sql`${fromOf(table, { names, dialect, projectId })}${sessions}`;
  const where =
    keys === undefined ? sql`WHERE ${projectOf(table)} = ${sql.int(projectId)}` : dialect.whereKeys(projectId, keys);
  return sql`(SELECT ${shown} ${from} ${where}) AS ${sql.numbered('s', id)}`;
}

/** The tables that are stored, unlike sessions. */
type BaseTable = Exclude<TableName, 'sessions'>;

function projectOf(table: BaseTable): Fragment {
  switch (table) {
    case 'events':
      return sql`e.project_id`;
    case 'persons':
      return sql`p.project_id`;
    case 'person_distinct_ids':
      return sql`o.project_id`;
    case 'groups':
      return sql`g0.project_id`;
    case 'cohort_people':
      return sql`m.project_id`;
    default:
      return table satisfies never;
  }
}

/** The records that must be joined to read the requested columns. */
interface Needs {
  person: boolean;
  personRecord: boolean;
  distinctIds: boolean;
  groups: readonly number[];
  session: readonly string[];
  conditions: readonly Condition[];
}

function neededBy(columns: readonly TableColumn[]): Needs {
  const names = columns.map((column) => {
    if (column.of === 'column') return column.name;
    return column.of === 'property'
      ? `${column.property.of}.properties ${'index' in column.property ? column.property.index : ''}`
      : '';
  });
  const groups = names.flatMap((name) => /^group(?:_|\.properties )(\d)/.exec(name)?.[1] ?? []).map(Number);
  return {
    person: names.some((name) => name.startsWith('person.')),
    personRecord: names.some((name) => /^person\.(created_at|properties)/.test(name)),
    distinctIds: names.includes('distinct_id') || names.includes('pdi.person_id'),
    groups: [...new Set(groups)].sort(),
    session: names.flatMap((name) => (name.startsWith('session.') ? [name.slice('session.'.length)] : [])),
    conditions: columns.flatMap((column) => (column.of === 'condition' ? [column.condition] : [])),
  };
}

export const recordsNeededBy = (columns: readonly TableColumn[]): Property[] => recordsOf(neededBy(columns));

function recordsOf({ person, personRecord, groups }: Needs): Property[] {
  return [
    ...(person ? [{ of: 'column', key: 'person_id' } as const] : []),
    ...(personRecord ? [{ of: 'person', key: '' } as const] : []),
    ...groups.map((index) => ({ of: 'group', index, key: '' }) as const),
  ];
}

interface From {
  names: Needs;
  dialect: Dialect;
  projectId: number;
}

function fromOf(table: BaseTable, { names, dialect, projectId }: From): Fragment {
  const project = sql.int(projectId);
  const isPostgres = dialect.name === 'postgres';
  const persons = isPostgres
    ? sql`person p`
    : sql`(SELECT project_id, uuid, properties, is_identified, fromUnixTimestamp64Milli(created_ms, 'UTC') AS created_at FROM person
        WHERE project_id = ${project}) AS p`;
  const ids = isPostgres
    ? sql`person_distinct_id o`
    : sql`(SELECT project_id, distinct_id, person_uuid FROM person_distinct_id WHERE project_id = ${project}) AS o`;
  switch (table) {
    case 'events':
      return buildFromClause(dialect, { projectId, properties: recordsOf(names), conditions: names.conditions });
    case 'persons':
      return names.distinctIds
        ? sql`FROM ${persons} INNER JOIN ${ids} ON o.project_id = p.project_id AND o.person_uuid = p.uuid`
        : sql`FROM ${persons}`;
    case 'person_distinct_ids':
      return names.personRecord
        ? sql`FROM ${ids} ${dialect.personRecord(projectId, sql`o.person_uuid`)}`
        : sql`FROM ${ids}`;
    case 'groups':
      return isPostgres
        ? sql`FROM "group" g0`
        : sql`FROM (SELECT project_id, group_type_index, group_key, group_properties, fromUnixTimestamp64Milli(created_ms, 'UTC') AS created_at
            FROM "group" WHERE project_id = ${project}) AS g0`;
    case 'cohort_people': {
      const members = isPostgres
        ? sql`cohort_member m`
        : sql`(SELECT project_id, cohort_id, person_uuid FROM cohort_member WHERE project_id = ${project}) AS m`;
      return names.personRecord
        ? sql`FROM ${members} ${dialect.personRecord(projectId, sql`m.person_uuid`)}`
        : sql`FROM ${members}`;
    }
    default:
      return table satisfies never;
  }
}

export function columnText(column: TableColumn, table: TableName, printing: Printing): Fragment {
  const { dialect, projectId } = printing;
  if (column.of === 'condition') return buildCondition(dialect, column.condition, projectId);
  if (column.of === 'property') return propertyText(column, printing);
  return plainColumn(column.name, table, printing);
}

function propertyText(
  { property, path, type }: Extract<TableColumn, { of: 'property' }>,
  printing: Printing,
): Fragment {
  const { dialect, isPostgres, bind } = printing;
  const text = dialect.text(property);
  switch (type.kind) {
    case 'float':
      return dialect.number(property);
    case 'bool':
      return isPostgres
        ? sql`CASE ${text} WHEN 'true' THEN true WHEN 'false' THEN false END`
        : sql`CAST(multiIf(${text} = 'true', 1, ${text} = 'false', 0, NULL) AS Nullable(Bool))`;
    case 'time':
      return dialect.time(property, type.zone ?? 'UTC');
    default:
  }
  if (path.length === 0) {
    if (!isPostgres)
      return property.of === 'event' && propertiesWithColumns.has(property.key)
        ? text
        : sortedObject(property, text, printing);
    const json = documentOf(property, printing);
    const key = bind('text', property.key);
    return sql`CASE jsonb_typeof(${json} -> ${key}) WHEN 'string' THEN ${json} ->> ${key}
      WHEN 'number' THEN trim_scale((${json} ->> ${key})::numeric)::text WHEN 'boolean' THEN ${json} ->> ${key}
      WHEN 'array' THEN ${compactJson(sql`${json} -> ${key}`)} WHEN 'object' THEN ${compactObject(sql`${json} -> ${key}`)} END`;
  }
  const steps = [property.key, ...path].map((step) => bind('text', step));
  const json = documentOf(property, printing);
  if (!isPostgres) return sql`JSONExtract(${json}, ${sql.join(steps, ', ')}, 'Nullable(String)')`;
  const found = sql`(${json} #> ARRAY[${sql.join(steps, ', ')}])`;
  return sql`CASE jsonb_typeof(${found}) WHEN 'string' THEN ${found} #>> '{}' WHEN 'number' THEN trim_scale(${found}::numeric)::text
    WHEN 'boolean' THEN ${found} #>> '{}' WHEN 'array' THEN ${compactJson(found)} WHEN 'object' THEN ${compactObject(found)} END`;
}

/**
 * Properties that have their own column in ClickHouse. Reading such a column, which contains strings, avoids reading
 * the event's document.
 */
export const propertiesWithColumns: ReadonlySet<string> = new Set([...propertyColumns.few, ...propertyColumns.many]);

/** Prints an object with sorted keys, because PostgreSQL does not keep the client's order. */
function sortedObject(
  property: Extract<TableColumn, { of: 'property' }>['property'],
  text: Fragment,
  printing: Printing,
): Fragment {
  const [json, key] = [documentOf(property, printing), printing.bind('text', property.key)];
  const pairs = sql`arraySort(JSONExtractKeysAndValuesRaw(${json}, ${key}))`;
  const pair = sql`concat(replaceAll(toJSONString(pair.1), '\\/', '/'), ':', pair.2)`;
  return sql`if(startsWith(ifNull(${text}, ''), '{') AND JSONType(${json}, ${key}) = 'Object',
    concat('{', arrayStringConcat(arrayMap(pair -> ${pair}, ${pairs}), ','), '}'), ${text})`;
}

function documentOf(
  property: Extract<TableColumn, { of: 'property' }>['property'],
  { isPostgres }: Printing,
): Fragment {
  switch (property.of) {
    case 'event':
      return isPostgres ? sql`e.properties` : sql`e.readable`;
    case 'person':
    case 'shown person':
      return isPostgres ? sql`p.properties` : sql`ifNull(p.properties, '{}')`;
    case 'stored person':
      return sql`e.person_properties`;
    case 'group': {
      const properties = sql`${sql.numbered('g', property.index)}.group_properties`;
      return isPostgres ? properties : sql`ifNull(${properties}, '{}')`;
    }
    default:
      return property satisfies never;
  }
}

/** Prints the index of a joined group, which is null if the event has no group. */
function indexOf(group: Fragment, index: number, isPostgres: boolean): Fragment {
  const number = isPostgres ? sql`${sql.literal(index)}::int8` : sql`toInt64(${sql.literal(index)})`;
  return sql`CASE WHEN ${group}.group_key IS NOT NULL THEN ${number} END`;
}

/** PostgreSQL stores person modes as numbers. */
const mode = sql`CASE e.person_mode WHEN 0 THEN 'full' WHEN 1 THEN 'propertyless' ELSE 'force_upgrade' END`;

function plainColumn(name: string, table: TableName, { dialect, isPostgres, projectId }: Printing): Fragment {
  if (name.startsWith('session.')) return sessionColumn(name.slice('session.'.length));
  const group = /^group_(\d)\.(index|key|created_at|properties)$/.exec(name);
  if (group !== null) {
    const record = sql.numbered('g', Number(group[1]));
    if (group[2] === 'properties') return sql`${record}.group_properties`;
    if (group[2] === 'index') return indexOf(record, Number(group[1]), isPostgres);
    return group[2] === 'key' ? sql`${record}.group_key` : sql`${record}.created_at`;
  }
  if (/^\$(session_id|window_id|group_\d)$/.test(name))
    return sql`coalesce(${dialect.text({ of: 'event', key: name })}, '')`;
  const ofEvents: Record<string, Fragment> = {
    uuid: sql`e.uuid`,
    event: sql`e.event`,
    timestamp: sql`e.timestamp`,
    created_at: sql`e.created_at`,
    distinct_id: sql`e.distinct_id`,
    elements_chain: sql`e.elements_chain`,
    properties: sql`e.properties`,
    person_mode: isPostgres ? mode : sql`toString(e.person_mode)`,
    stored_person_id: sql`e.person_id`,
    stored_person_created_at: sql`e.person_created_at`,
    'poe.properties': sql`e.person_properties`,
    'person.id': dialect.person,
    'person.created_at': sql`p.created_at`,
    'person.properties': sql`p.properties`,
    elements_chain_href: dialect.text({ of: 'column', key: 'first href' }),
    team_id: isPostgres ? sql`${sql.int(projectId)}::int8` : sql`toInt64(${sql.int(projectId)})`,
  };
  const others: Record<Exclude<BaseTable, 'events'>, Record<string, Fragment>> = {
    persons: {
      'person.id': sql`p.uuid`,
      'person.created_at': sql`p.created_at`,
      'person.properties': sql`p.properties`,
      is_identified: sql`p.is_identified`,
      distinct_id: sql`o.distinct_id`,
      'pdi.person_id': sql`o.person_uuid`,
    },
    person_distinct_ids: {
      distinct_id: sql`o.distinct_id`,
      person_id: sql`o.person_uuid`,
      'person.id': sql`o.person_uuid`,
      'person.created_at': sql`p.created_at`,
      'person.properties': sql`p.properties`,
    },
    groups: {
      index: isPostgres ? sql`g0.group_type_index::int8` : sql`toInt64(g0.group_type_index)`,
      key: sql`g0.group_key`,
      created_at: sql`g0.created_at`,
      properties: sql`g0.group_properties`,
    },
    cohort_people: {
      cohort_id: isPostgres ? sql`m.cohort_id::int8` : sql`toInt64(m.cohort_id)`,
      person_id: sql`m.person_uuid`,
      'person.id': sql`m.person_uuid`,
      'person.created_at': sql`p.created_at`,
      'person.properties': sql`p.properties`,
    },
  };
  const found = (table === 'events' || table === 'sessions' ? ofEvents : others[table])[name];
  if (found === undefined) throw new Error(`The table ${table} has no column ${name}.`);
  return found;
}
