import { type BrowserMeasurement, browserReport, type ClickRun } from './browser-report.ts';

const run = (side: ClickRun['side'], overrides: Partial<ClickRun> = {}): ClickRun => {
  const clickMs = { millrace: [1, 1.5], reference: [4, 3], none: [0.1, 0.1] }[side];
  return { side, clickMs, longTasks: 0, mainThreadMs: 900, ...overrides };
};
const met: BrowserMeasurement = {
  initMs: { millrace: [4, 5, 90], reference: [10, 11, 12] },
  clicks: [run('millrace'), run('reference'), run('none')],
};
const verdicts = (overrides: Partial<BrowserMeasurement>) =>
  browserReport({ ...met, ...overrides })
    .split('\n')
    .filter((line) => /^(NOT )?MET/.test(line))
    .map((line) => line.startsWith('MET'));

test('everything met, by the median of the starts', () => {
  expect(verdicts({})).toEqual(Array(4).fill(true));
});

test.each<[string, Partial<BrowserMeasurement>, number[]]>([
  ['a slow start', { initMs: { millrace: [6], reference: [10] } }, [0]],
  ['no start', { initMs: { millrace: [], reference: [10] } }, [0]],
  ['slow clicks', { clicks: [run('millrace', { clickMs: [1, 2.2] }), run('reference'), run('none')] }, [1]],
  [
    "clicks not much faster than PostHog's",
    { clicks: [run('millrace'), run('reference', { clickMs: [2] }), run('none')] },
    [2],
  ],
  ['no page without a library', { clicks: [run('millrace'), run('reference')] }, [1, 2]],
  ['a long task', { clicks: [run('millrace', { longTasks: 1 }), run('reference'), run('none')] }, [3]],
  ['no clicks', { clicks: [] }, [1, 2, 3]],
])('%s is not met', (_, overrides, missed) => {
  expect(verdicts(overrides)).toEqual([0, 1, 2, 3].map((at) => !missed.includes(at)));
});

test('what a page does without a library is not counted', () => {
  const busy = { clickMs: [5, 5], longTasks: 3 };
  const clicks = [
    run('millrace', { clickMs: [6, 6.9], longTasks: 3 }),
    run('reference', { clickMs: [9, 9], longTasks: 8 }),
    run('none', busy),
  ];
  expect(verdicts({ clicks })).toEqual(Array(4).fill(true));
  expect(browserReport({ ...met, clicks })).toMatch(/^reference, increase over no library +4 +4 +8 +900$/m);
});
