/**
 * Random funnels, actors and lists. The reference implementation does not support them, so tests only compare the
 * engines' results with each other.
 */

import fc from 'fast-check';
import { eventNames, history, type StoredHistory } from './random-history.ts';
import { breakdownProperty, filters, node, property, range, rangeOf, type ValueOf } from './random-parts.ts';

const secondsPerSlot = 43_200;
/** A history in which many events are simultaneous. */
export const crowdedHistory = history.map((given) => ({
  ...given,
  events: given.events.map((event) => ({ ...event, at: Math.floor(event.at / secondsPerSlot) * secondsPerSlot })),
}));

const step = fc.oneof(
  fc.constantFrom(...eventNames).map(node),
  fc.record({ event: fc.constantFrom(...eventNames, null), properties: filters }).map(({ event, properties }) => ({
    ...node(event),
    properties,
  })),
  fc.constantFrom(...eventNames).map((event) => ({ ...node(event), math: 'first_time_for_user' })),
);
const at = fc.integer({ min: 0, max: 2 });
const funnel = fc.record({
  kind: fc.constant('funnel' as const),
  series: fc.array(step, { minLength: 2, maxLength: 3 }),
  shows: fc.constantFrom('steps', 'time_to_convert', 'trends'),
  order: fc.constantFrom('ordered', 'ordered', 'strict', 'unordered'),
  days: fc.integer({ min: 1, max: 10 }),
  steps: fc.option(fc.tuple(at, at)),
  excludes: fc.option(fc.tuple(at, at)),
  by: fc.option(fc.array(property, { minLength: 1, maxLength: 2 })),
  limit: fc.constantFrom(1, 2, 25),
  hidesOther: fc.boolean(),
  attribution: fc.constantFrom('first_touch', 'last_touch', 'all_events', 'step'),
  attributedStep: at,
  bins: fc.constantFrom(undefined, 3),
  filters,
  range,
  /** If set, the query lists the actors at this step instead of counting actors. */
  actors: fc.option(fc.constantFrom(1, 2, 3, -2, -3)),
});
const list = fc.record({
  kind: fc.constant('list' as const),
  event: fc.constantFrom(...eventNames, undefined),
  filters,
  by: breakdownProperty,
  range,
  limit: fc.integer({ min: 1, max: 20 }),
  offset: fc.integer({ min: 0, max: 3 }),
  order: fc.constantFrom('timestamp', 'timestamp DESC', 'event', 'distinct_id'),
});
export const rowsQuery = fc.oneof({ weight: 3, arbitrary: funnel }, list);

export function translateRows(rows: ValueOf<typeof rowsQuery>, stored: StoredHistory): unknown {
  const { from, to, dateRange } = rangeOf(stored, rows);
  if (rows.kind === 'list')
    return {
      kind: 'EventsQuery',
      select: ['uuid', 'event', 'timestamp', 'person_id', 'properties.plan'],
      ...{ event: rows.event, properties: rows.filters, after: from, before: to },
      ...{ limit: rows.limit, offset: rows.offset, orderBy: [rows.order, 'uuid'] },
    };
  const { series, limit, actors } = rows;
  const last = series.length - 1;
  const isUnordered = rows.order === 'unordered';
  const spanOf = (steps: [number, number] | null) => {
    const [first, end] = isUnordered || steps === null ? [0, last] : [Math.min(...steps), Math.max(...steps)];
    return first < end && end <= last ? { funnelFromStep: first, funnelToStep: end } : {};
  };
  const other = eventNames.find((name) => series.every(({ event }) => event !== name && event !== null));
  const isList = actors !== null && rows.shows !== 'trends';
  const breakdowns = (rows.by ?? []).map(({ type, key }) => ({ type, property: key }));
  const query = {
    kind: 'FunnelsQuery',
    ...{ dateRange, series, properties: rows.filters },
    funnelsFilter: {
      ...{ funnelVizType: rows.shows, funnelOrderType: rows.order, binCount: rows.bins },
      ...{ funnelWindowInterval: rows.days, funnelWindowIntervalUnit: 'day' },
      ...spanOf(rows.steps),
      ...(rows.excludes &&
        other && {
          exclusions: [{ ...node(other), ...{ funnelFromStep: 0, funnelToStep: last }, ...spanOf(rows.excludes) }],
        }),
      breakdownAttributionType: rows.attribution,
      breakdownAttributionValue: isUnordered ? 0 : Math.min(rows.attributedStep, last),
    },
    ...(rows.by && {
      breakdownFilter: { breakdowns, breakdown_limit: limit, breakdown_hide_other_aggregation: rows.hidesOther },
    }),
  };
  if (!isList) return query;
  const source = { kind: 'FunnelsActorsQuery', source: query, funnelStep: actors };
  return { kind: 'ActorsQuery', source, select: ['id', 'event_count'], orderBy: ['event_count DESC'], limit };
}
