import { type E2eMeasurement, e2eReport } from '../e2e-bench.ts';

const good: E2eMeasurement = {
  rate: 5000,
  visibleAfterMs: Array.from({ length: 100 }, (_, index) => index * 10 + 10),
  answerP50Ms: 5,
  answerP99Ms: 20,
  sent: 1000,
  acknowledged: 950,
  rows: 1000,
  uuids: 1000,
  uuidsAcknowledged: 950,
  isListed: true,
  processes: [{ name: 'postgresql', cpuMicrosPerEvent: 50, maxRssBytes: Number.NaN }],
};
const verdicts = (run: E2eMeasurement) =>
  e2eReport(run)
    .split('\n')
    .filter((line) => /^(NOT )?MET/.test(line))
    .map((line) => line.startsWith('MET'));

test('a good run meets everything, and events nobody acknowledged may be stored', () => {
  expect(verdicts(good)).toEqual([true, true, true, true]);
  expect(e2eReport(good)).toMatch(/visible in PostgreSQL +500 +950 +990 +1,000/);
});

test.each([
  ['late', { visibleAfterMs: [...good.visibleAfterMs.slice(0, 94), 1001, 1001, 1001, 1001, 1001, 1001] }, 0],
  ['never seen', { visibleAfterMs: good.visibleAfterMs.map(() => Number.POSITIVE_INFINITY) }, 0],
  ['nothing measured', { visibleAfterMs: [] }, 0],
  ['lost', { uuidsAcknowledged: 949 }, 1],
  ['doubled', { rows: 1001 }, 2],
  ['not listed', { isListed: false }, 3],
])('%s is not met', (_, change, index) => {
  expect(verdicts({ ...good, ...change })[index]).toBe(false);
});
