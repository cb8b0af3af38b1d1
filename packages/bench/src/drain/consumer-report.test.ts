import { type ConsumerMeasurement, formatConsumerReport } from '../consumer-bench.ts';

const run = (overrides: Partial<ConsumerMeasurement> = {}): ConsumerMeasurement => ({
  side: 'millrace',
  projects: 1,
  stored: 0,
  eventsPerSecond: 12_000,
  cpuMicrosPerEvent: 60,
  databaseMicrosPerEvent: 40,
  maxRssBytes: 150 * 2 ** 20,
  sent: 100,
  rows: 100,
  uuids: 100,
  ...overrides,
});
const notMet = (runs: ConsumerMeasurement[]) =>
  formatConsumerReport(runs)
    .split('\n')
    .filter((line) => line.startsWith('NOT MET'))
    .map((line) => line.slice('NOT MET  '.length, line.indexOf(':')));
const createMany = (eventsPerSecond: number) => run({ side: 'createMany', eventsPerSecond });
const copy = (eventsPerSecond: number) => run({ side: 'COPY', eventsPerSecond });

test("compares the consumer's rate with the rates of consumers that use createMany and COPY", () => {
  expect(notMet([run(), createMany(3000), copy(24_000)])).toEqual([]);
  expect(notMet([run(), createMany(3001), copy(24_001)])).toEqual([
    'events per second relative to createMany of the rows',
    'events per second relative to COPY of the rows',
  ]);
});

test('reports the targets as not met for a run that is slow, uses too much memory and loses events', () => {
  expect(notMet([run({ eventsPerSecond: 9999, maxRssBytes: 201 * 2 ** 20, rows: 99, uuids: 99 })])).toEqual([
    'mixed events per second',
    'max RSS MB',
    'runs whose rows do not match the events sent',
  ]);
  expect(notMet([run({ rows: 101 })])).toEqual(['runs whose rows do not match the events sent']);
});

test('compares the median CPU time (consumer and PostgreSQL) of each situation with that of the first situation', () => {
  const slow = run({ projects: 1000, cpuMicrosPerEvent: 80, databaseMicrosPerEvent: 50 });
  expect(notMet([run(), run({ projects: 1000 }), run({ stored: 5 })])).toEqual([]);
  expect(notMet([run(), slow, slow, run({ projects: 1000 })])).toHaveLength(1);
});

test("omits PostgreSQL's CPU time in all situations if it is unknown in one of them", () => {
  const blind = { databaseMicrosPerEvent: Number.NaN };
  expect(notMet([run(blind), run({ ...blind, projects: 1000 })])).toEqual([]);
});
