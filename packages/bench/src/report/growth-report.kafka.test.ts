import { type GrowthMeasurement, growthReport } from '../consumer-growth-bench.ts';

const run = (overrides: Partial<GrowthMeasurement>): GrowthMeasurement => ({
  projects: 1,
  stored: 0,
  eventsPerSecond: 10_000,
  cpuMicrosPerEvent: 60,
  databaseMicrosPerEvent: 40,
  maxRssBytes: 2 ** 20,
  secondsFromSpawn: 5,
  sent: 100,
  rows: 100,
  uuids: 100,
  persons: 30,
  statements: [],
  ...overrides,
});
const verdicts = (runs: GrowthMeasurement[]) =>
  growthReport(runs)
    .split('\n')
    .filter((line) => /^(NOT )?MET/.test(line))
    .map((line) => line.startsWith('MET'));

test('judges every situation by its median over the first, both processes together', () => {
  const slow = { projects: 1000, cpuMicrosPerEvent: 80, databaseMicrosPerEvent: 50 };
  expect(verdicts([run({}), run({ projects: 1000 }), run({ stored: 5 })])).toEqual([true, true, true]);
  expect(verdicts([run({}), run(slow), run(slow), run({ projects: 1000 })])).toEqual([false, true]);
});

test('rows that are missing or too many are not met', () => {
  expect(verdicts([run({ rows: 99, uuids: 99 })])).toEqual([false]);
  expect(verdicts([run({ rows: 101 })])).toEqual([false]);
});

test('what cannot be seen of PostgreSQL is left out on all sides', () => {
  const blind = { databaseMicrosPerEvent: Number.NaN };
  expect(verdicts([run(blind), run({ ...blind, projects: 1000 })])).toEqual([true, true]);
});
