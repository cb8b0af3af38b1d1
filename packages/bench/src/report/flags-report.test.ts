import { type FlagsMeasurement, flagsReport, type MemoryMeasurement } from './flags-report.ts';
import type { RequestRun } from './report.ts';

const run = (overrides: Partial<RequestRun> = {}): RequestRun => ({
  acknowledged: 16_000,
  requestsPerSecond: 4000,
  cpuMicros: 50,
  databaseMicros: 100,
  p50Ms: 2,
  p99Ms: 10,
  maxRssBytes: 150 * 2 ** 20,
  otherStatuses: {},
  ...overrides,
});
const memory: MemoryMeasurement = {
  ...{ projects: 1000, keptBytes: 90 * 2 ** 20, rssBytes: 100 * 2 ** 20, countedBytes: 16 * 2 ** 20 },
  ...{ reloadedNewest: 0, reloadedOldest: 0, askedAgain: 8 },
};
const good: FlagsMeasurement = {
  evaluator: [
    { side: 'millrace', flags: 50, cpuMicros: 60 },
    { side: 'millrace', flags: 1000, cpuMicros: 1500 },
    { side: 'millrace', flags: 2000, cpuMicros: 3100 },
    { side: 'posthog-node', flags: 50, cpuMicros: 900 },
  ],
  questions: { closed: [run()], open: [run()] },
  personReads: { closed: [run()], open: [run()] },
  definitions: [
    { status: 304, bytes: 0, runs: [run(), run({ cpuMicros: 900 }), run()] },
    { status: 200, bytes: 6000, runs: [run()] },
  ],
  besideIngest: { alone: [20, 30, 21], beside: [24, 22, 40], questionsPerSecond: 300, otherStatuses: {} },
  memory: { ...memory, limitBytes: 512 * 2 ** 20 },
  limitedMemory: [{ ...memory, reloadedOldest: 8, limitBytes: 16 * 2 ** 20 }],
};
const notMet = (overrides: Partial<FlagsMeasurement>) =>
  flagsReport({ ...good, ...overrides })
    .split('\n')
    .filter((line) => line.startsWith('NOT MET'))
    .map((line) => line.slice('NOT MET  '.length, line.indexOf(':')));

test('everything met, by medians', () => {
  expect(notMet({})).toEqual([]);
});

test.each<[string, Partial<FlagsMeasurement>, string[]]>([
  [
    'cost that grows faster than flags',
    { evaluator: good.evaluator.map((one) => (one.flags === 2000 ? { ...one, cpuMicros: 6000 } : one)) },
    ['evaluator, cost per flag with 2,000 flags relative to 1,000 flags'],
  ],
  [
    'a database that cannot be seen',
    { personReads: { closed: [run({ databaseMicros: Number.NaN })], open: [run()] } },
    ['/flags with a person read, PostgreSQL CPU µs'],
  ],
  [
    'questions that were refused',
    { besideIngest: { ...good.besideIngest, otherStatuses: { 503: 1 } } },
    ['runs with unexpected responses'],
  ],
  [
    'memory that did not hold all',
    { memory: { ...good.memory, reloadedOldest: 1 } },
    ['MB of memory for 1,000 projects x 100 flags'],
  ],
  [
    'more than the limit',
    { limitedMemory: [{ ...memory, countedBytes: 17 * 2 ** 20, limitBytes: 16 * 2 ** 20 }] },
    ['MB counted above a limit'],
  ],
])('%s is not met', (_, overrides, expected) => {
  expect(notMet(overrides)).toEqual(expected);
});
