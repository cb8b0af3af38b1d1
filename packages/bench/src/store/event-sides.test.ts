import { dealBatches, runStreams } from './event-sides.ts';

test('every item once, in batches of 500 dealt in turn, each stream in order', async () => {
  const items = Array.from({ length: 1700 }, (_, index) => index);
  const seen: number[][] = [];
  const streams = dealBatches(items, 2, async (batch) => void seen.push(batch));
  expect(streams.map((stream) => stream.map(({ size }) => size))).toEqual([
    [500, 500],
    [500, 200],
  ]);
  expect(await runStreams(streams)).toBe(1700);
  expect(seen.flat().toSorted((a, b) => a - b)).toEqual(items);
});
