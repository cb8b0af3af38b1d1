// Tables and columns that SQL queries can read. Queries cannot refer to any other tables or columns.

import type { Property } from '../event-store/selection.ts';
import type { TableName } from './tree.ts';
import { bool, int, type SqlType, text, time, uuid } from './types.ts';

/** A column of a table. `name` identifies it for the printer. */
interface ColumnEntry {
  is: 'column';
  name: string;
  type: 'text' | 'time' | 'uuid' | 'int' | 'bool';
}
interface PropertiesEntry {
  is: 'properties';
  name: string;
  of: Exclude<Property['of'], 'column'>;
  index?: number;
}
interface ObjectEntry {
  is: 'object';
  fields: Fields;
}
export type Entry = ColumnEntry | PropertiesEntry | ObjectEntry;
export type Fields = ReadonlyMap<string, Entry>;

const column = (name: string, type: ColumnEntry['type']): ColumnEntry => ({ is: 'column', name, type });
const object = (fields: Record<string, Entry>): ObjectEntry => ({
  is: 'object',
  fields: new Map(Object.entries(fields)),
});
const properties = (name: string, of: PropertiesEntry['of'], index?: number): PropertiesEntry =>
  index === undefined ? { is: 'properties', name, of } : { is: 'properties', name, of, index };

const person = object({
  id: column('person.id', 'uuid'),
  created_at: column('person.created_at', 'time'),
  properties: properties('person.properties', 'person'),
});

/** Columns of a session, which are computed from its events. */
const session = {
  session_id: column('session.session_id', 'text'),
  distinct_id: column('session.distinct_id', 'text'),
  $start_timestamp: column('session.$start_timestamp', 'time'),
  $end_timestamp: column('session.$end_timestamp', 'time'),
  $session_duration: column('session.$session_duration', 'int'),
  ...Object.fromEntries(
    ['$pageview_count', '$autocapture_count', '$screen_count'].map((name) => [name, column(`session.${name}`, 'int')]),
  ),
  ...Object.fromEntries(
    [
      '$entry_current_url',
      '$entry_pathname',
      '$end_current_url',
      '$end_pathname',
      ...['source', 'medium', 'campaign', 'term', 'content'].map((name) => `$entry_utm_${name}`),
      '$entry_referring_domain',
    ].map((name) => [name, column(`session.${name}`, 'text')]),
  ),
  $is_bounce: column('session.$is_bounce', 'bool'),
  $num_uniq_urls: column('session.$num_uniq_urls', 'int'),
  id: column('session.session_id', 'text'),
  duration: column('session.$session_duration', 'int'),
};

const groupIndexes = [0, 1, 2, 3, 4];

const events = new Map<string, Entry>(
  Object.entries({
    uuid: column('uuid', 'uuid'),
    event: column('event', 'text'),
    properties: properties('properties', 'event'),
    timestamp: column('timestamp', 'time'),
    distinct_id: column('distinct_id', 'text'),
    elements_chain: column('elements_chain', 'text'),
    created_at: column('created_at', 'time'),
    $session_id: column('$session_id', 'text'),
    $window_id: column('$window_id', 'text'),
    person_mode: column('person_mode', 'text'),
    ...Object.fromEntries(groupIndexes.map((index) => [`$group_${index}`, column(`$group_${index}`, 'text')])),
    team_id: column('team_id', 'int'),
    elements_chain_href: column('elements_chain_href', 'text'),
    person_id: column('person.id', 'uuid'),
    person,
    pdi: object({ distinct_id: column('distinct_id', 'text'), person_id: column('person.id', 'uuid'), person }),
    poe: object({
      id: column('stored_person_id', 'uuid'),
      created_at: column('stored_person_created_at', 'time'),
      properties: properties('poe.properties', 'stored person'),
    }),
    session: object(session),
    ...Object.fromEntries(
      groupIndexes.flatMap((index): [string, Entry][] => [
        [
          `group_${index}`,
          object({
            index: column(`group_${index}.index`, 'int'),
            key: column(`group_${index}.key`, 'text'),
            created_at: column(`group_${index}.created_at`, 'time'),
            properties: properties(`group_${index}.properties`, 'group', index),
          }),
        ],
        [`goe_${index}`, object({ key: column(`$group_${index}`, 'text') })],
      ]),
    ),
  }),
);

/**
 * The table of events with the persons that were stored with them. Its columns do not change when persons are merged or
 * changed, or when a session gets more events.
 */
export const storedEvents: Fields = new Map(
  [...events]
    .filter(([name]) => name !== 'pdi' && name !== 'session')
    .map(([name, entry]): [string, Entry] => {
      if (name === 'person_id') return [name, column('stored_person_id', 'uuid')];
      return name === 'person' ? [name, events.get('poe') ?? entry] : [name, entry];
    }),
);

interface Table {
  fields: Fields;
  /** The columns that `SELECT *` returns, in their order. */
  shown: readonly string[];
}

const table = (fields: Fields, hidden: readonly string[] = []): Table => ({
  fields,
  shown: [...fields].filter(([name, entry]) => entry.is !== 'object' && !hidden.includes(name)).map(([name]) => name),
});

export const tables: Record<TableName, Table> = {
  events: table(events, ['team_id', 'elements_chain_href', 'person_id']),
  persons: table(
    new Map<string, Entry>([
      ['id', column('person.id', 'uuid')],
      ['created_at', column('person.created_at', 'time')],
      ['properties', properties('person.properties', 'person')],
      ['is_identified', column('is_identified', 'bool')],
      ['pdi', object({ distinct_id: column('distinct_id', 'text'), person_id: column('pdi.person_id', 'uuid') })],
    ]),
  ),
  person_distinct_ids: table(
    new Map<string, Entry>([
      ['distinct_id', column('distinct_id', 'text')],
      ['person_id', column('person_id', 'uuid')],
      ['person', person],
    ]),
  ),
  groups: table(
    new Map<string, Entry>([
      ['index', column('index', 'int')],
      ['key', column('key', 'text')],
      ['created_at', column('created_at', 'time')],
      ['properties', properties('properties', 'group', 0)],
    ]),
  ),
  cohort_people: table(
    new Map<string, Entry>([
      ['person_id', column('person_id', 'uuid')],
      ['cohort_id', column('cohort_id', 'int')],
      ['person', person],
    ]),
  ),
  sessions: table(new Map<string, Entry>(Object.entries(session)), ['id', 'duration']),
};

/** Columns of joined records, which are null if the record is missing. */
const sometimesNull = /^(person\.created_at|stored_person_created_at|group_\d\.(index|key|created_at)|session\..*)$/;
/** Session columns that are null if the session has no page views. */
const ofPageViews = /^session\.\$(entry|end_(current_url|pathname)|is_bounce)/;

/** Session columns with the path of a URL, and the columns of the URLs from which they are computed. */
export const pathColumns: ReadonlyMap<string, string> = new Map([
  ['session.$entry_pathname', 'session.$entry_current_url'],
  ['session.$end_pathname', 'session.$end_current_url'],
]);

export function columnType({ name, type }: ColumnEntry, tableName: TableName, zone: string): SqlType {
  const types = { text, uuid, bool, int: int(), time: time(zone) };
  const isOwn = tableName === 'persons' || (tableName === 'sessions' && !ofPageViews.test(name));
  const isNullable = sometimesNull.test(name) && !isOwn;
  return isNullable ? { ...types[type], isNullable } : types[type];
}

/**
 * Returns the SQL type of a property with this definition. Only the values `true` and `false` of a boolean property are
 * valid.
 */
export function propertyType(definition: string | undefined, zone: string): SqlType {
  const types: Record<string, SqlType> = {
    Numeric: { kind: 'float', isNullable: true },
    Boolean: { ...bool, isNullable: true },
    DateTime: { ...time(zone), isNullable: true },
  };
  return types[definition ?? ''] ?? { ...text, isNullable: true };
}

/** PostHog tables that Millrace does not support. */
export const missingTables = new Map([
  ['numbers', 'The table function `numbers` is not supported. Use arrayJoin(range(n)).'],
  ...['session_replay_events', 'raw_session_replay_events', 'logs', 'heatmaps', 'log_entries', 'query_log'].map(
    (name): [string, string] => [name, `The table \`${name}\` is not supported.`],
  ),
  ...['document_embeddings', 'raw_sessions', 'raw_persons', 'raw_groups', 'raw_cohort_people'].map(
    (name): [string, string] => [name, `The table \`${name}\` is not supported.`],
  ),
]);
