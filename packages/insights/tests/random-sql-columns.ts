// Columns of the tables that random SQL queries read, grouped by type.

import type { Kind } from './random-sql-expressions.ts';

type Columns = Record<Kind | 'document', readonly string[]>;

/** Columns by table. `@` is replaced with the alias of the table. */
const tables = {
  events: {
    text: [
      ...['@event', '@distinct_id', '@properties.$browser', '@properties.currency', '@properties.ref'],
      ...['@properties.note', '@properties.qty', '@properties.items', '@properties.address.city', '@$session_id'],
      ...['@properties.$current_url', '@person.properties.email', '@person.properties.plan', '@person.properties.name'],
      '@group_0.properties.tier',
    ],
    int: ['length(@event)', 'toHour(@timestamp)', "JSONLength(@properties, 'items')"],
    float: [
      ...['@properties.amount', '@properties.tokens', '@person.properties.age', '@group_0.properties.seats'],
      // These expressions can be NaN, because 0 / 0 is NaN.
      ...['0 / @properties.amount', '@properties.tokens / 0'],
    ],
    flag: [
      ...['isNotNull(@properties.amount)', "@person.properties.plan != 'pro'", "@person_id IN COHORT 'Key accounts'"],
      ...[
        '0 / @properties.amount = 0 / @properties.tokens',
        '0 / @properties.amount < 1',
        '1 <= @properties.tokens / 0',
      ],
    ],
    bool: ['@properties.paid', '@person.properties.vip'],
    date: ['toDate(@timestamp)', 'toDate(@properties.due)', 'toStartOfMonth(@timestamp)'],
    time: ['@timestamp', '@created_at', '@properties.due', '@person.created_at', '@person.properties.signed_up_at'],
    uuid: ['@uuid', '@person_id', '@person.id'],
    'text[]': ["JSONExtractArrayRaw(@properties, 'items')", "splitByChar('/', @properties.$pathname)"],
    'int[]': ['[length(@event), 2]'],
    document: ['@properties'],
  },
  // The table of events, with the columns of their sessions.
  'events ': {
    text: ['@event', '@session.$entry_current_url', '@session.$entry_pathname', '@session.$entry_utm_source'],
    int: ['@session.$session_duration', '@session.$pageview_count', '@session.$num_uniq_urls'],
    float: ['@properties.amount'],
    flag: ['@session.$pageview_count > 1'],
    bool: ['@session.$is_bounce', '@properties.paid'],
    date: ['toDate(@session.$start_timestamp)'],
    time: ['@session.$end_timestamp', '@timestamp'],
    uuid: ['@uuid', '@person_id'],
    'text[]': ["splitByChar('/', @session.$end_pathname)"],
    'int[]': ['[@session.$pageview_count]'],
    document: ['@properties'],
  },
  persons: {
    text: ['@properties.email', '@properties.plan', '@properties.name', 'toString(@properties)'],
    int: ['length(@properties.email)', 'toYear(@created_at)'],
    float: ['@properties.age'],
    flag: ["@properties.plan = 'pro'", "@id IN COHORT 'Free plan'", "@id NOT IN COHORT 'Buyers'"],
    bool: ['@properties.vip', '@is_identified'],
    date: ['toDate(@created_at)', 'toStartOfYear(@created_at)'],
    time: ['@created_at', '@properties.signed_up_at'],
    uuid: ['@id'],
    'text[]': ["splitByChar('@', @properties.email)", 'JSONExtractKeys(@properties)'],
    'int[]': [],
    document: ['@properties'],
  },
  sessions: {
    text: [
      ...['@session_id', '@distinct_id', '@$entry_current_url', '@$entry_pathname', '@$end_current_url'],
      ...['@$end_pathname', '@$entry_utm_source'],
    ],
    int: ['@$session_duration', '@$pageview_count', '@$autocapture_count', '@$screen_count', '@$num_uniq_urls'],
    float: ['@$session_duration / @$pageview_count'],
    flag: ['@$pageview_count > 1'],
    bool: ['@$is_bounce'],
    date: ['toDate(@$start_timestamp)'],
    time: ['@$start_timestamp', '@$end_timestamp'],
    uuid: [],
    'text[]': ["splitByChar('/', @$entry_pathname)"],
    'int[]': ['[@$pageview_count, @$session_duration]'],
    document: ['toString(@$session_duration)'],
  },
  groups: {
    text: ['@key', '@properties.name', '@properties.tier'],
    int: ['@index'],
    float: ['toFloat(@properties.seats)'],
    flag: ["@properties.tier = 'gold'"],
    bool: [],
    date: ['toDate(@created_at)'],
    time: ['@created_at'],
    uuid: [],
    'text[]': ["splitByChar(' ', @properties.name)"],
    'int[]': [],
    document: ['@properties'],
  },
  person_distinct_ids: {
    text: ['@distinct_id', '@person.properties.plan'],
    int: ['length(@distinct_id)'],
    float: ['@person.properties.age'],
    flag: ["@distinct_id LIKE 'a%'"],
    bool: ['@person.properties.vip'],
    date: ['toDate(@person.created_at)'],
    time: ['@person.created_at'],
    uuid: ['@person_id'],
    'text[]': ["splitByChar('-', @distinct_id)"],
    'int[]': [],
    document: ['@person.properties'],
  },
  cohort_people: {
    text: ['@person.properties.email'],
    int: ['@cohort_id * 0'],
    float: ['@person.properties.age'],
    flag: ["@person.properties.plan = 'pro'"],
    bool: ['@person.properties.vip'],
    date: ['toDate(@person.created_at)'],
    time: ['@person.created_at'],
    uuid: ['@person_id'],
    'text[]': ["splitByChar('@', @person.properties.email)"],
    'int[]': [],
    document: ['@person.properties'],
  },
} as const satisfies Record<string, Columns>;

export type RandomTable = keyof typeof tables;
export const randomTables = Object.keys(tables) as RandomTable[];

/** Returns the columns of the tables with the given aliases. The alias is empty if the query reads only one table. */
export function columnsOf(sources: Readonly<Record<string, RandomTable>>): Columns {
  const found: Partial<Record<keyof Columns, string[]>> = {};
  for (const [alias, table] of Object.entries(sources))
    for (const [kind, columns] of Object.entries(tables[table]) as [keyof Columns, readonly string[]][])
      found[kind] = [
        ...(found[kind] ?? []),
        ...columns.map((column) => column.replace(/@(?=[\w$])/g, alias === '' ? '' : `${alias}.`)),
      ];
  return found as Columns;
}
