// Plans an EventsQuery.

import type { PageColumn, PageQuestion } from '../event-store/port.ts';
import type { EventsQuery } from '../query.ts';
import { queryError } from '../query-parts.ts';
import { planPersons } from './actors.ts';
import { readFilters } from './conditions.ts';
import { both, filtersOfQuery, type PlanContext, selectionOf } from './context.ts';
import { firstMoment, readMoment } from './dates.ts';

/** A column of the query, and the event columns it needs. */
export interface EventsColumn {
  text: string;
  type: string;
  shows: 'value' | 'time' | 'json' | 'everything' | 'person' | 'display name';
  needs: PageColumn[];
}

export interface EventsPlan {
  kind: 'EventsQuery';
  columns: EventsColumn[];
  limit: number;
  offset: number;
  question: PageQuestion;
}

const usualLimit = 100;
/** Allowance for clients whose clock is ahead. */
const aheadMs = 5000;

export function planEvents(query: EventsQuery, context: PlanContext): EventsPlan {
  const { limit = usualLimit, offset = 0, orderBy = [], personId } = query;
  const { where: code, events } = query;
  if (code !== undefined && !(Array.isArray(code) && code.length === 0))
    throw queryError('where', 'SQL is not supported. Use `properties` instead.');
  if (events !== undefined && events.length > 0 && query.event !== undefined)
    throw queryError('events', '`events` cannot be combined with `event`.');
  const select = query.select === undefined || query.select.length === 0 ? ['*'] : query.select;
  const columns = select.map((text, at) => columnOf(text, `select.${at}`, context));
  const needed = [...new Map(columns.flatMap(({ needs }) => needs).map((one) => [JSON.stringify(one), one])).values()];
  const { clock } = context;
  const person =
    personId === undefined
      ? []
      : [
          {
            property: { of: 'column' as const, key: 'person_id' as const },
            test: { is: 'equal' as const, values: [personId] },
          },
        ];
  const where = both(
    filtersOfQuery(query, context),
    readFilters(query.fixedProperties, 'fixedProperties', context),
    ...person,
  );
  const from = query.after === 'all' ? firstMoment : after(query.after ?? '-24h', 'after');
  const to = query.before === undefined ? clock.now + aheadMs : after(query.before, 'before') - 1;
  return {
    kind: 'EventsQuery',
    ...{ columns, limit, offset },
    question: {
      select: {
        ...selectionOf(
          { ...(query.event !== undefined && { event: query.event }) },
          { where, range: { from, to }, context },
        ),
        ...(events !== undefined && events.length > 0 && { events: [...new Set(events)] }),
      },
      of: query.source === undefined ? null : planPersons(query.source, context),
      columns: needed,
      order: orderBy.length > 0 ? orderOf(orderBy, needed, context) : usualOrder(needed),
      limit: limit + 1,
      offset,
    },
  };

  /** The end is exclusive, so adds a millisecond. */
  function after(text: string, path: string): number {
    const moment = readMoment(text, clock);
    if (moment === null)
      throw queryError(
        path,
        `"${text.slice(0, 100)}" is not a valid time. Use an ISO 8601 time between 1970 and 2199, or a relative time such as -7d.`,
      );
    return moment.instant + 1;
  }
}

function usualOrder(columns: PageColumn[]): PageQuestion['order'] {
  return [{ column: columns.includes('count') ? 'count' : 'timestamp', isDescending: true }];
}

/** @param selected columns of the rows. When events are counted, results can only be sorted by these. */
function orderOf(texts: string[], selected: PageColumn[], context: PlanContext): PageQuestion['order'] {
  const order = texts.map((text, at) => orderedBy(text, `orderBy.${at}`, context));
  const isCounted = [...selected, ...order.map(({ column }) => column)].includes('count');
  const known = new Set([...selected, 'count'].map((column) => JSON.stringify(column)));
  const unknown = order.findIndex(({ column }) => !known.has(JSON.stringify(column)));
  if (isCounted && unknown >= 0)
    throw queryError(
      `orderBy.${unknown}`,
      'With `count()`, results can only be ordered by `count()` or by a selected column.',
    );
  return order;
}

function orderedBy(text: string, path: string, context: PlanContext): PageQuestion['order'][number] {
  const [, name = '', direction = 'ASC'] = /^(.*?)(?:\s+(ASC|DESC))?$/i.exec(text.trim()) ?? [];
  const [column] = columnOf(name, path, context).needs;
  if (column === undefined || name === '*' || name === 'person')
    throw queryError(path, 'Results cannot be ordered by this column.');
  return { column, isDescending: direction.toUpperCase() === 'DESC' };
}

const whole: PageColumn[] = ['uuid', 'event', 'timestamp', 'created_at', 'distinct_id', 'properties', 'elements_chain'];
const plain: Record<string, Omit<EventsColumn, 'text'>> = {
  '*': { type: 'Tuple', shows: 'everything', needs: whole },
  uuid: { type: 'UUID', shows: 'value', needs: ['uuid'] },
  event: { type: 'String', shows: 'value', needs: ['event'] },
  timestamp: { type: "DateTime64(6, 'UTC')", shows: 'time', needs: ['timestamp'] },
  created_at: { type: "DateTime64(6, 'UTC')", shows: 'time', needs: ['created_at'] },
  distinct_id: { type: 'String', shows: 'value', needs: ['distinct_id'] },
  person: { type: 'Tuple', shows: 'person', needs: ['person_id', 'distinct_id'] },
  'person.id': { type: 'UUID', shows: 'value', needs: ['person_id'] },
  person_id: { type: 'UUID', shows: 'value', needs: ['person_id'] },
  person_display_name: { type: 'String', shows: 'display name', needs: ['person_id', 'distinct_id'] },
  properties: { type: 'String', shows: 'json', needs: ['properties'] },
  elements_chain: { type: 'String', shows: 'value', needs: ['elements_chain'] },
  'count()': { type: 'UInt64', shows: 'value', needs: ['count'] },
};

function columnOf(given: string, path: string, { personsAsStored }: PlanContext): EventsColumn {
  const name = given.replace(/\s+--.*$/, '').trim();
  const known = Object.hasOwn(plain, name) ? plain[name] : undefined;
  if (known !== undefined) return { text: given, ...known };
  const [, owner, key = ''] = /^(person\.)?properties\.(.+)$/.exec(name) ?? [];
  const property = key.replace(/^`(.*)`$/, '$1');
  if (property === '' || property.length > 400 || /[()]/.test(property)) {
    throw queryError(
      path,
      `"${name.slice(0, 100)}" is not supported. Choose one of: ${Object.keys(plain).join(', ')}, properties.NAME, ` +
        'person.properties.NAME.',
    );
  }
  const of = owner === undefined ? 'event' : personsAsStored ? 'stored person' : 'person';
  return { text: given, type: 'Nullable(String)', shows: 'json', needs: [{ json: { of, key: property } }] };
}
