import { type E2eMeasurement, formatE2eReport } from '../e2e-bench.ts';

const good: E2eMeasurement = {
  rate: 5000,
  visibleAfterMs: Array.from({ length: 100 }, (_, index) => index * 10 + 10),
  sent: 1000,
  acknowledged: 950,
  rows: 1000,
  uuids: 1000,
  uuidsAcknowledged: 950,
};
const verdicts = (run: E2eMeasurement) =>
  formatE2eReport(run)
    .split('\n')
    .filter((line) => /^(NOT )?MET/.test(line))
    .map((line) => line.startsWith('MET'));

test('reports every target of a fast run as met, even if unacknowledged events are stored', () => {
  expect(verdicts(good)).toEqual([true, true, true]);
  expect(formatE2eReport(good)).toMatch(/events +500 +950 +1,000 +1,000 +950/);
});

test.each([
  ['late', { visibleAfterMs: [...good.visibleAfterMs.slice(0, 94), 1001, 1001, 1001, 1001, 1001, 1001] }, 0],
  ['not visible', { visibleAfterMs: good.visibleAfterMs.map(() => Number.POSITIVE_INFINITY) }, 0],
  ['nothing measured', { visibleAfterMs: [] }, 0],
  ['lost', { uuidsAcknowledged: 949 }, 1],
  ['duplicated', { rows: 1001 }, 2],
])('reports a target as not met: %s', (_, change, index) => {
  expect(verdicts({ ...good, ...change })[index]).toBe(false);
});
