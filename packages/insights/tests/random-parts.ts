/** Ranges, filters and breakdowns that random queries share, and their translation to the query format. */

import fc from 'fast-check';
import { uuidOf } from './case-world.ts';
import { dayIn, type NaiveFilter, type NaiveInterval, type NaiveProperty, shifted } from './naive-results.ts';
import { eventNames, type StoredHistory } from './random-history.ts';

/** A number of days after the start, or a number of days before now. */
const day = fc.integer({ min: -1, max: 14 });
export const range = fc.oneof(
  { weight: 4, arbitrary: fc.tuple(day, day).map(([a, b]) => ({ first: Math.min(a, b), last: Math.max(a, b) })) },
  { weight: 1, arbitrary: fc.integer({ min: 0, max: 15 }).map((back) => ({ back })) },
);
export const eventName = fc.constantFrom(...eventNames);
export const interval = fc.constantFrom<NaiveInterval[]>('day', 'week', 'month');

const filter = fc.oneof(
  fc.record({
    type: fc.constant('event' as const),
    key: fc.constant('plan'),
    operator: fc.constantFrom<NaiveFilter['operator'][]>('exact', 'is_not', 'is_set', 'is_not_set'),
    value: fc.constantFrom<NaiveFilter['value'][]>('free', 'pro', 7, '7', true, ''),
  }),
  fc.record({
    type: fc.constant('event' as const),
    key: fc.constant('amount'),
    operator: fc.constantFrom<NaiveFilter['operator'][]>('gt', 'lte'),
    value: fc.constantFrom(-3, 1, 4),
  }),
  fc.record({
    type: fc.constant('person' as const),
    key: fc.constant('tier'),
    operator: fc.constantFrom<NaiveFilter['operator'][]>('exact', 'is_not', 'is_set', 'is_not_set'),
    value: fc.constantFrom('gold', 'silver'),
  }),
);
export const filters = fc.oneof(fc.constant([]), fc.array(filter, { minLength: 1, maxLength: 2 }));
export const property = fc.constantFrom<NaiveProperty[]>(
  { type: 'event', key: 'plan' },
  { type: 'person', key: 'tier' },
);
export const breakdownProperty = fc.option(property);

export type ValueOf<A> = A extends fc.Arbitrary<infer T> ? T : never;

/** A query, the expected result, and a function that extracts the comparable part of the actual result. */
export interface Translated {
  query: unknown;
  expected: unknown;
  read: (results: never[]) => unknown;
}

/** Returns noon of the thirteenth day, which is the current time of the test. The following days are in the future. */
export const nowOf = ({ beginning }: StoredHistory) => Date.parse(`${shifted(beginning, 12)}T12:00Z`);

export function rangeOf(stored: StoredHistory, { range: asked }: { range: ValueOf<typeof range> }) {
  if ('back' in asked) {
    const today = dayIn(stored.memory.zone, nowOf(stored));
    return { from: shifted(today, -asked.back), to: today, dateRange: { date_from: `-${asked.back}d` } };
  }
  const [from, to] = [shifted(stored.beginning, asked.first), shifted(stored.beginning, asked.last)];
  return { from, to, dateRange: { date_from: from, date_to: to } };
}

export const node = (event: string | null) => ({ kind: 'EventsNode', event });
export const breakdownOf = (breakdownProperty: NaiveProperty | null, limit = 25) =>
  breakdownProperty === null
    ? {}
    : {
        breakdownFilter: {
          breakdown: breakdownProperty.key,
          breakdown_type: breakdownProperty.type,
          breakdown_limit: limit,
        },
      };

export const idsOf = ({ projectId }: StoredHistory, some: readonly { person: string }[]) =>
  [...new Set(some.map(({ person }) => uuidOf(projectId, person)))].sort();
export const readIds = (results: [string][]) => results.map(([id]) => id).sort();

export function raise(): never {
  throw new Error('Every history has events.');
}
