import { type BrowserMeasurement, browserReport, type ClickRun, type SizeMeasurement } from './browser-report.ts';

const size = (name: SizeMeasurement['name'], bytes: number): SizeMeasurement => ({
  ...{ name, bytes, referenceBytes: 54_000 },
});
const run = (side: ClickRun['side'], overrides: Partial<ClickRun> = {}): ClickRun => {
  const clickMs = { millrace: [1, 1.5], reference: [4, 3], none: [0.1, 0.1] }[side];
  return { side, clickMs, longTasks: 0, mainThreadMs: 900, ...overrides };
};
const met: BrowserMeasurement = {
  sizes: [size('script', 18_000), size('slim', 8000), size('react', 3000)],
  initMs: { millrace: [4, 5, 90], reference: [10, 11, 12] },
  clicks: [run('millrace'), run('reference'), run('none')],
};
const verdicts = (overrides: Partial<BrowserMeasurement>) =>
  browserReport({ ...met, ...overrides })
    .split('\n')
    .filter((line) => /^(NOT )?MET/.test(line))
    .map((line) => line.startsWith('MET'));

test('everything met, by the median of the starts', () => {
  expect(verdicts({})).toEqual(Array(7).fill(true));
});

test.each<[string, Partial<BrowserMeasurement>, number[]]>([
  ['a byte too much', { sizes: [size('script', 18_001), size('slim', 8001), size('react', 3001)] }, [0, 1, 2]],
  ['an unknown size', { sizes: [] }, [0, 1, 2]],
  ['a slow start', { initMs: { millrace: [6], reference: [10] } }, [3]],
  ['no start', { initMs: { millrace: [], reference: [10] } }, [3]],
  ['slow clicks', { clicks: [run('millrace', { clickMs: [1, 2.2] }), run('reference'), run('none')] }, [4]],
  [
    "clicks not much faster than PostHog's",
    { clicks: [run('millrace'), run('reference', { clickMs: [2] }), run('none')] },
    [5],
  ],
  ['no page without a library', { clicks: [run('millrace'), run('reference')] }, [4, 5]],
  ['a long task', { clicks: [run('millrace', { longTasks: 1 }), run('reference'), run('none')] }, [6]],
  ['no clicks', { clicks: [] }, [4, 5, 6]],
])('%s is not met', (_, overrides, missed) => {
  expect(verdicts(overrides)).toEqual([0, 1, 2, 3, 4, 5, 6].map((at) => !missed.includes(at)));
});

test('what a page does without a library is not counted', () => {
  const busy = { clickMs: [5, 5], longTasks: 3 };
  const clicks = [
    run('millrace', { clickMs: [6, 6.9], longTasks: 3 }),
    run('reference', { clickMs: [9, 9], longTasks: 8 }),
    run('none', busy),
  ];
  expect(verdicts({ clicks })).toEqual(Array(7).fill(true));
  expect(browserReport({ ...met, clicks })).toMatch(/^reference, more than without +4 +4 +8 +900$/m);
});
