import { type ListMeasurement, type ManagementMeasurement, managementReport } from '../management-bench.ts';

const list = (overrides: Partial<ListMeasurement>): ListMeasurement => ({
  list: 'projects',
  size: 'small',
  requestsPerSecond: 1600,
  p50Ms: 5,
  p99Ms: 15,
  ...{ acknowledged: 8000, cpuMicros: 500, databaseMicros: 300, maxRssBytes: 2 ** 27 },
  statementsPerRequest: 3,
  otherStatuses: {},
  ...overrides,
});
const verdicts = (lists: ListMeasurement[], rest: Partial<ManagementMeasurement> = {}) =>
  managementReport({ lists, readySeconds: [0.9, 3, 1], maxRssBytes: 150 * 2 ** 20, ...rest }, 'projects')
    .split('\n')
    .filter((line) => /^(NOT )?MET/.test(line))
    .map((line) => line.startsWith('MET'));

test('everything met, by the median of the starts', () => {
  expect(verdicts([list({}), list({ size: 'large' })])).toEqual(Array(7).fill(true));
});

test.each([
  ['slow', [list({ requestsPerSecond: 1499 }), list({ size: 'large' })], 0],
  ['late', [list({ p99Ms: 21 }), list({ size: 'large' })], 1],
  ['late when large', [list({}), list({ size: 'large', p99Ms: 21 })], 2],
  ['no large one', [list({})], 2],
  ['a query for every row', [list({}), list({ size: 'large', statementsPerRequest: 13 })], 3],
  ['an error', [list({ otherStatuses: { 500: 1 } }), list({ size: 'large' })], 4],
])('%s is not met', (_, lists, index) => {
  expect(verdicts(lists)[index]).toBe(false);
});

test('memory and start are judged', () => {
  const lists = [list({}), list({ size: 'large' })];
  expect(verdicts(lists, { maxRssBytes: 201 * 2 ** 20 })[5]).toBe(false);
  expect(verdicts(lists, { readySeconds: [1, 2, 2] })[6]).toBe(false);
});
