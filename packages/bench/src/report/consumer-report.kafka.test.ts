import { type ConsumerMeasurement, type ConsumerSide, consumerReport } from '../consumer-bench.ts';

const run = (side: ConsumerSide, eventsPerSecond: number, overrides: Partial<ConsumerMeasurement> = {}) => ({
  side,
  eventsPerSecond,
  cpuMicrosPerEvent: 60,
  databaseMicrosPerEvent: Number.NaN,
  maxRssBytes: 150 * 2 ** 20,
  secondsFromSpawn: 5,
  sent: 100,
  rows: 100,
  uuids: 100,
  persons: 30,
  statements: [],
  ...overrides,
});
const verdicts = (runs: ConsumerMeasurement[]) =>
  consumerReport(runs)
    .split('\n')
    .filter((line) => /^(NOT )?MET/.test(line))
    .map((line) => line.startsWith('MET'));

test('COPY is judged when it ran', () => {
  const two = [run('millrace', 12_000), run('naive', 3000)];
  expect(verdicts(two)).toEqual([true, true, true, true]);
  expect(verdicts([...two, run('copy', 24_000)])).toEqual([true, true, true, true, true]);
  expect(verdicts([...two, run('copy', 24_001)])).toEqual([true, true, false, true, true]);
});

test('too slow, too large and lost are not met', () => {
  const ours = run('millrace', 9999, { maxRssBytes: 201 * 2 ** 20, rows: 99, uuids: 99 });
  expect(verdicts([ours, run('naive', 3000)])).toEqual([false, false, false, false]);
});
