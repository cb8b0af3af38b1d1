/** Random funnel queries for breakdown values, conversion rates and the persons at a step. */

import fc from 'fast-check';
import { type NaiveFunnel, naiveBreakdownSteps, naivePaths, naiveRates, naiveSteps } from './naive-funnel.ts';
import { filterHistory } from './naive-results.ts';
import { eventNames, type StoredHistory } from './random-history.ts';
import {
  breakdownOf,
  filters,
  idsOf,
  node,
  property,
  raise,
  range,
  rangeOf,
  readIds,
  type Translated,
  type ValueOf,
} from './random-parts.ts';

export const funnel = fc.record({
  kind: fc.constant('funnel' as const),
  order: fc.constantFrom('ordered' as const, 'strict' as const, 'unordered' as const),
  steps: fc.shuffledSubarray([...eventNames], { minLength: 2 }),
  isOptional: fc.boolean(),
  days: fc.integer({ min: 1, max: 10 }),
  filters,
  range,
});

export const funnelOf = fc.record({
  kind: fc.constant('funnel of' as const),
  shows: fc.constantFrom('values' as const, 'rates' as const, 'actors' as const),
  order: fc.constantFrom('ordered' as const, 'strict' as const),
  steps: fc.shuffledSubarray([...eventNames], { minLength: 2, maxLength: 2 }),
  excludes: fc.boolean(),
  days: fc.integer({ min: 1, max: 10 }),
  by: property,
  attribution: fc.constantFrom('first_touch' as const, 'last_touch' as const, 'all_events' as const),
  step: fc.constantFrom(1, 2, -2),
  range,
});

const windowOf = (days: number) => ({ funnelWindowInterval: days, funnelWindowIntervalUnit: 'day' });

export function translateFunnel(funnelQuery: ValueOf<typeof funnel>, stored: StoredHistory): Translated {
  const { steps, order, filters: properties } = funnelQuery;
  const { from, to, dateRange } = rangeOf(stored, funnelQuery);
  // If reaching an optional step would exceed the window, the attempt may still be in time without that step. The
  // reference implementation does not support this, so use a long window.
  const optional = funnelQuery.isOptional && order !== 'unordered' ? steps.slice(1, -1) : [];
  const days = optional.length > 0 ? 90 : funnelQuery.days;
  const hasTimes = order !== 'unordered' && optional.length === 0;
  const isRequired = (step: number) => !optional.includes(steps[step] as never);
  const naive = { steps: [...steps], optional, order, exclusion: null, windowMs: days * 86_400_000, from, to };
  const { counts, seconds } = naiveSteps(filterHistory(stored.memory, properties), naive);
  return {
    query: {
      kind: 'FunnelsQuery',
      ...{ dateRange, properties },
      series: steps.map((step) => ({ ...node(step), optionalInFunnel: optional.includes(step) })),
      funnelsFilter: { funnelOrderType: order, ...windowOf(days) },
    },
    expected: counts
      .map((count, step) => [count, hasTimes ? seconds[step] : null])
      .filter((_, step) => isRequired(step)),
    read: (results: { count: number; average_conversion_time: number | null }[]) =>
      results
        .map(({ count, average_conversion_time: average }) => [count, hasTimes ? average : null])
        .filter((_, step) => isRequired(step)),
  };
}

/** Creates a query for the breakdown values, the daily conversion rates, or the persons at a step. */
export function translateFunnelOf(funnelQuery: ValueOf<typeof funnelOf>, stored: StoredHistory): Translated {
  const { steps, shows, by: split, attribution, step } = funnelQuery;
  const { memory } = stored;
  const { from, to, dateRange } = rangeOf(stored, funnelQuery);
  // In the daily rates of a strict funnel, steps on other days also end an attempt. The reference implementation does
  // not support this.
  const order = shows === 'rates' ? 'ordered' : funnelQuery.order;
  const other = eventNames.find((name) => !steps.includes(name)) ?? raise();
  const exclusion = funnelQuery.excludes ? { event: other, fromStep: 0, toStep: 1 } : null;
  const naive: NaiveFunnel = {
    steps,
    optional: [],
    order,
    exclusion,
    windowMs: funnelQuery.days * 86_400_000,
    from,
    to,
  };
  const query = {
    kind: 'FunnelsQuery',
    dateRange,
    series: steps.map(node),
    funnelsFilter: {
      funnelOrderType: order,
      ...windowOf(funnelQuery.days),
      ...(shows === 'rates' && { funnelVizType: 'trends' }),
      ...(shows === 'values' && { breakdownAttributionType: attribution }),
      ...(funnelQuery.excludes && { exclusions: [{ ...node(other), funnelFromStep: 0, funnelToStep: 1 }] }),
    },
    ...(shows === 'values' && breakdownOf(split)),
  };
  if (shows === 'rates')
    return {
      query,
      expected: [naiveRates(memory, naive)],
      read: (results: { data: number[] }[]) => results.map(({ data }) => data),
    };
  if (shows === 'values')
    return {
      query,
      expected: naiveBreakdownSteps(memory, { ...naive, by: split, attribution }),
      read: (results: { count: number; breakdown_value: string[] }[][]) =>
        results.map((some) => ({ value: some[0]?.breakdown_value[0], counts: some.map(({ count }) => count) })),
    };
  // A positive step selects the persons who reached it. A negative step selects those who dropped off there.
  const reached = [...naivePaths(memory, naive)].filter(([, { times }]) =>
    step > 0 ? times.length >= step : times.length === -step - 1,
  );
  return {
    query: {
      kind: 'ActorsQuery',
      select: ['id'],
      source: { kind: 'FunnelsActorsQuery', source: query, funnelStep: step },
    },
    expected: idsOf(
      stored,
      reached.map(([person]) => ({ person })),
    ),
    read: readIds,
  };
}
