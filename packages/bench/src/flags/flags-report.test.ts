import { type FlagsMeasurement, formatFlagsReport, type NamedRun } from './flags-report.ts';

const run = (name: string, overrides: Partial<NamedRun> = {}): NamedRun => ({
  name,
  seconds: 4,
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
const good: FlagsMeasurement = {
  evaluations: [
    { name: 'millrace, 50 flags', cpuMicros: 60 },
    { name: 'millrace, 1000 flags', cpuMicros: 1500 },
    { name: 'posthog-node, 50 flags', cpuMicros: 900 },
  ],
  requests: [
    run('50 flags, closed loop'),
    run('50 flags, half load'),
    run('50 flags, person read, closed loop'),
    run('definitions of 500 flags, 304'),
    run('definitions of 500 flags, 304', { cpuMicros: 900 }),
    run('definitions of 500 flags, 304'),
    run('definitions of 500 flags, 200'),
  ],
  events: [
    ...[20, 30, 21].map((p99Ms) => run('alone', { p99Ms })),
    ...[24, 22, 40].map((p99Ms) => run('with flag requests', { p99Ms })),
  ],
  memory: { projects: 1000, flagsPerProject: 100, liveBytes: 90 * 2 ** 20 },
};
const notMet = (overrides: Partial<FlagsMeasurement>) =>
  formatFlagsReport({ ...good, ...overrides })
    .split('\n')
    .filter((line) => line.startsWith('NOT MET'))
    .map((line) => line.slice('NOT MET  '.length, line.indexOf(':')));

test('reports every target as met if the medians are within the limits', () => {
  expect(notMet({})).toEqual([]);
});

test.each<[string, Partial<FlagsMeasurement>, string[]]>([
  [
    'a database whose CPU time is not visible',
    { requests: good.requests.map((one) => ({ ...one, databaseMicros: Number.NaN })) },
    ['/flags with a person read, PostgreSQL CPU µs'],
  ],
  [
    'a rejected flag request',
    { events: [...good.events, run('with flag requests', { p99Ms: 24, otherStatuses: { 503: 1 } })] },
    ['runs with unexpected responses'],
  ],
  [
    'too much memory',
    { memory: { ...good.memory, liveBytes: 151 * 2 ** 20 } },
    ['MB of memory for 1,000 projects x 100 flags'],
  ],
])('reports a target as not met: %s', (_, overrides, expected) => {
  expect(notMet(overrides)).toEqual(expected);
});
