import { columnKey } from '../event-store/page.ts';
import type { PageColumn } from '../event-store/queries.ts';
import type { PlanContext } from '../plan/context.ts';
import type { EventsColumn, EventsPlan } from '../plan/events.ts';
import type { PersonRecord } from '../records-store.ts';
import { findDisplayName } from './actors.ts';
import { formatIso } from './time-labels.ts';

type ReadEvent = (column: PageColumn) => unknown;

/** Returns the IDs of the persons whose records are part of the result. */
export function listPersonIds({ columns, storeQuery }: EventsPlan, rows: unknown[][]): string[] {
  if (!columns.some(({ shows }) => shows === 'person' || shows === 'display name')) return [];
  const at = storeQuery.columns.indexOf('person_id');
  return [...new Set(rows.map((row) => String(row[at])))];
}

/** @param rows the rows of the page, plus one more if another page exists */
export function formatEvents(
  plan: EventsPlan,
  rows: unknown[][],
  { persons, context }: { persons: ReadonlyMap<string, PersonRecord>; context: PlanContext },
) {
  const { columns, limit, offset, storeQuery } = plan;
  const places = new Map(storeQuery.columns.map((column, at) => [columnKey(column), at]));
  const shown = rows.slice(0, limit).map((row) => {
    const read: ReadEvent = (column) => row[places.get(columnKey(column)) ?? -1] ?? null;
    return columns.map((column) => columnValue(column, { read, persons, context }));
  });
  return {
    results: shown,
    columns: columns.map(({ text }) => text),
    types: columns.map(({ type }) => type),
    hasMore: rows.length > limit,
    limit,
    offset,
  };
}

interface Reading {
  read: ReadEvent;
  persons: ReadonlyMap<string, PersonRecord>;
  context: PlanContext;
}

function columnValue({ shows, expression, needs: [need] }: EventsColumn, { read, persons, context }: Reading): unknown {
  const value = need === undefined ? null : read(need);
  switch (shows) {
    case 'value':
      return need === 'count' ? Number(value) : value;
    case 'time':
      return timeOf(value, context);
    case 'json':
      return jsonOf(value);
    case 'expression':
      return expression?.read(value) ?? null;
    case 'person': {
      const person = persons.get(String(read('person_id')));
      const distinct_id = read('distinct_id');
      if (person === undefined) return { distinct_id };
      return {
        uuid: person.id,
        created_at: formatIso(person.created_at.getTime(), context.clock),
        properties: person.properties,
        distinct_id,
      };
    }
    case 'display name': {
      const [id, distinct_id] = [read('person_id'), read('distinct_id')];
      return { display_name: findDisplayName(persons.get(String(id))) ?? distinct_id, id, distinct_id };
    }
    case 'everything':
      return {
        uuid: read('uuid'),
        event: read('event'),
        properties: jsonOf(read('properties')),
        distinct_id: read('distinct_id'),
        timestamp: timeOf(read('timestamp'), context),
        team_id: context.settings.projectId,
        elements_chain: read('elements_chain'),
        created_at: timeOf(read('created_at'), context),
      };
    default:
      return shows satisfies never;
  }
}

/** The event store returns JSON as text. */
const jsonOf = (value: unknown): unknown => (typeof value === 'string' ? JSON.parse(value) : null);

/** Formats a time, with milliseconds only if they are not zero. */
function timeOf(value: unknown, { clock }: PlanContext): string {
  const time = Number(value);
  return formatIso(time, clock, time % 1000 === 0 ? '' : `.${String(time % 1000).padStart(3, '0')}000`);
}
