// Plans an EventsQuery, which returns rows of events or of aggregates.

import { columnKey, isAggregated } from '../event-store/page.ts';
import type { EventPageQuery, PageColumn } from '../event-store/queries.ts';
import type { Condition } from '../event-store/selection.ts';
import type { EventsQuery } from '../query.ts';
import { createQueryError } from '../query-parts.ts';
import { planPersons } from './actors.ts';
import { readFilters } from './conditions.ts';
import { combineConditions, createSelection, type PlanContext, readQueryFilters } from './context.ts';
import { earliestTime, parseMoment } from './dates.ts';
import { createExpressionReader, type PlannedExpression } from './expressions.ts';

/** A query's column, and the event columns that it needs. */
export interface EventsColumn {
  text: string;
  type: string;
  shows: 'value' | 'time' | 'json' | 'everything' | 'person' | 'display name' | 'expression';
  needs: PageColumn[];
  expression?: PlannedExpression;
}

export interface EventsPlan {
  kind: 'EventsQuery';
  columns: EventsColumn[];
  limit: number;
  offset: number;
  storeQuery: EventPageQuery;
}

const usualLimit = 100;
/** How far ahead client clocks may be, in milliseconds. */
const aheadMs = 5000;

export function planEvents(query: EventsQuery, context: PlanContext): EventsPlan {
  const { limit = usualLimit, offset = 0, orderBy = [], personId } = query;
  const { where: expressions = [], events } = query;
  if (events !== undefined && events.length > 0 && query.event !== undefined)
    throw createQueryError('events', '`events` cannot be combined with `event`.');
  const select = query.select === undefined || query.select.length === 0 ? ['*'] : query.select;
  const columns = select.map((text, at) => columnOf(text, `select.${at}`, context));
  const needed = [...new Map(columns.flatMap(({ needs }) => needs).map((one) => [columnKey(one), one])).values()];
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
  const where = combineConditions(
    readQueryFilters(query, context),
    readFilters(query.fixedProperties, 'fixedProperties', context),
    ...expressions.map(
      (text, at): Condition => ({
        expression: expressionOf(text, 'condition', { path: `where.${at}`, context }),
      }),
    ),
    ...person,
  );
  const from = query.after === 'all' ? earliestTime : after(query.after ?? '-24h', 'after');
  const to = query.before === undefined ? clock.now + aheadMs : after(query.before, 'before') - 1;
  return {
    kind: 'EventsQuery',
    columns,
    limit,
    offset,
    storeQuery: {
      select: {
        ...createSelection(
          { ...(query.event !== undefined && { event: query.event }) },
          { where, range: { from, to }, context },
        ),
        ...(events !== undefined && events.length > 0 && { events: [...new Set(events)] }),
      },
      of: query.source === undefined ? null : planPersons(query.source, context),
      columns: needed,
      order: orderBy.length > 0 ? orderOf(orderBy, columns, context) : usualOrder(needed),
      limit: limit + 1,
      offset,
    },
  };

  /** Parses the time of an exclusive lower bound, and returns the next millisecond. */
  function after(text: string, path: string): number {
    const moment = parseMoment(text, clock);
    if (moment === null)
      throw createQueryError(
        path,
        `"${text.slice(0, 100)}" is not a valid time. Use an ISO 8601 time between 1970 and 2199, or a relative time such as -7d.`,
      );
    return moment.instant + 1;
  }
}

function usualOrder(columns: PageColumn[]): EventPageQuery['order'] {
  const column = columns.includes('count') ? 'count' : (columns.find(isAggregated) ?? 'timestamp');
  return [{ column, isDescending: true }];
}

/** If a column is an aggregate, results can only be sorted by selected columns and by aggregates. */
function orderOf(texts: string[], selected: EventsColumn[], context: PlanContext): EventPageQuery['order'] {
  const order = texts.map((text, at) => orderedBy(text, selected, { path: `orderBy.${at}`, context }));
  const columns = [...selected.flatMap(({ needs }) => needs), ...order.map(({ column }) => column)];
  if (!columns.some(isAggregated) || columns.some(isUnchecked)) return order;
  const known = new Set(selected.flatMap(({ needs }) => needs.map(columnKey)));
  const unknown = order.findIndex(({ column }) => !isAggregated(column) && !known.has(columnKey(column)));
  if (unknown >= 0)
    throw createQueryError(
      `orderBy.${unknown}`,
      'With `count()` or another aggregation, results can only be ordered by aggregations and by selected columns.',
    );
  return order;
}

const isUnchecked = (column: PageColumn) =>
  typeof column === 'object' && 'expression' in column && 'isUnchecked' in column.expression;

function orderedBy(text: string, selected: EventsColumn[], place: Placed): EventPageQuery['order'][number] {
  const [, name = '', direction = 'ASC'] = /^([\s\S]*?)(?:\s+(ASC|DESC))?$/i.exec(text.trim()) ?? [];
  const known = selected.find(({ expression }) => expression?.alias === name) ?? plainColumn(name, name, place.context);
  const [column] = known?.needs ?? [{ expression: expressionOf(name, 'order', place) }];
  if (column === undefined || name === '*' || name === 'person')
    throw createQueryError(place.path, 'Results cannot be ordered by this column.');
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

interface Placed {
  path: string;
  context: PlanContext;
}

function columnOf(given: string, path: string, context: PlanContext): EventsColumn {
  const known = plainColumn(given, given.replace(/\s+--.*$/, '').trim(), context);
  if (known !== null) return known;
  const expression = expressionOf(given, 'column', { path, context });
  return { text: given, type: expression.typeName, shows: 'expression', needs: [{ expression }], expression };
}

/** Returns a column that is a property or has a fixed name. Properties are shown as clients sent them. */
function plainColumn(given: string, name: string, { personsAsStored }: PlanContext): EventsColumn | null {
  const known = Object.hasOwn(plain, name) ? plain[name] : undefined;
  if (known !== undefined) return { text: given, ...known };
  const [, owner, word, quoted = word] =
    /^(person\.)?properties\.(?:([A-Za-z_$][\w$]{0,399})|`([^`\\]{1,400})`)$/.exec(name) ?? [];
  if (quoted === undefined) return null;
  const of = owner === undefined ? 'event' : personsAsStored ? 'stored person' : 'person';
  return { text: given, type: 'Nullable(String)', shows: 'json', needs: [{ json: { of, key: quoted } }] };
}

function expressionOf(text: string, use: 'column' | 'condition' | 'order', { path, context }: Placed) {
  return createExpressionReader(context, path)(text, use, path);
}
