import {
  findPlanFeature,
  hasPlanFeature,
  isPlanFeature,
  isPlanName,
  listProductFeatures,
  planFeatures,
  readPlanLimits,
  toLimitFeatures,
} from './plans.ts';

test('the full plan includes every feature, and the free plan includes no features', () => {
  expect(listProductFeatures('free')).toEqual([]);
  expect(listProductFeatures('full').map(({ key }) => key)).toEqual([...planFeatures]);
  for (const { name } of listProductFeatures('full')) expect(name).toMatch(/^[A-Z]/);
});

const stored: [string, unknown, boolean][] = [
  ['the feature', [{ key: 'historical_migrations', name: 'x' }], true],
  [
    'the feature among others',
    [
      { key: 'subscriptions', name: 'x' },
      { key: 'historical_migrations', name: 'y' },
    ],
    true,
  ],
  ['another feature', [{ key: 'subscriptions', name: 'x' }], false],
  ['nothing', [], false],
  ['null instead of a list', null, false],
  ['an object', { historical_migrations: true }, false],
  ['a list of keys', ['historical_migrations'], false],
  ['a list that contains null', [null, { key: 'historical_migrations', name: 'x' }], true],
];

test.each(stored)('hasPlanFeature reads a plan that is stored as %s', (_, features, expected) => {
  expect(hasPlanFeature(features, 'historical_migrations')).toBe(expected);
});

test('findPlanFeature returns a feature with its limit, or null if the plan does not include it', () => {
  const feature = { key: 'organizations_projects', name: 'Projects', limit: 2 };
  expect(findPlanFeature([feature], 'organizations_projects')).toEqual(feature);
  expect(findPlanFeature([feature], 'environments')).toBeNull();
});

test('recognizes the names of plans and features, and rejects other strings', () => {
  expect([isPlanName('full'), isPlanName('gold'), isPlanFeature('subscriptions'), isPlanFeature('full')]).toEqual([
    true,
    false,
    true,
    false,
  ]);
});

test("stores a plan's limits together with its features, and reads them back", () => {
  const limits = { eventsPerMonth: 1_000_000, eventsPerSecond: 0, flagRequestsPerMonth: 7 };
  const stored = [...listProductFeatures('full'), ...toLimitFeatures(limits)];
  expect(readPlanLimits(stored)).toEqual(limits);
  expect(hasPlanFeature(stored, 'historical_migrations')).toBe(true);
  expect(toLimitFeatures({ eventsPerMonth: 5, eventsPerSecond: null, flagRequestsPerMonth: null })).toEqual([
    { key: 'events_per_month', name: 'Events per month', unit: 'events per month', limit: 5 },
  ]);
});

test.each([
  ['nothing', []],
  ['null instead of a list', null],
  ['a plan without limits', listProductFeatures('full')],
  ['a limit of null', [{ key: 'events_per_month', name: 'x', limit: null }]],
  ['a negative limit', [{ key: 'events_per_month', name: 'x', limit: -1 }]],
  ['a limit as a string', [{ key: 'events_per_month', name: 'x', limit: '5' }]],
  ['a limit that is not whole', [{ key: 'events_per_month', name: 'x', limit: 0.5 }]],
])('treats a plan limit that is stored as %s as unlimited', (_, features) => {
  expect(readPlanLimits(features)).toEqual({ eventsPerMonth: null, eventsPerSecond: null, flagRequestsPerMonth: null });
});
