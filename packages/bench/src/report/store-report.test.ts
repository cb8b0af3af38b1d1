import type { StoreSide } from '../store/store-worker.ts';
import { type StoreMeasurement, storeReport } from '../store-bench.ts';

const run = (side: StoreSide, perSecond: number, found = 10): StoreMeasurement => ({
  side,
  perSecond,
  cpuMicros: 10,
  databaseMicros: Number.NaN,
  expected: 10,
  found,
});
const verdicts = (runs: StoreMeasurement[]) =>
  storeReport(runs)
    .split('\n')
    .filter((line) => /^(NOT )?MET/.test(line))
    .map((line) => line.startsWith('MET'));
const good = [run('copy', 40_000), run('createMany', 5000), run('processBatch', 20_000), run('persons', 30_000)];

test('judges medians', () => {
  expect(verdicts(good)).toEqual([true, true, true, true]);
  expect(verdicts([...good, run('processBatch', 1), run('processBatch', 20_000)])).toEqual([true, true, true, true]);
});

test.each([
  ['slower than half of COPY', run('copy', 41_000), 0],
  ['less than four times createMany', run('createMany', 5001), 1],
  ['too few persons', run('persons', 29_999), 2],
  ['a row too few', run('copy', 40_000, 9), 3],
])('%s is not met', (_, changed, index) => {
  expect(verdicts([...good.filter(({ side }) => side !== changed.side), changed])[index]).toBe(false);
});
