import { type ConsoleMeasurement, formatConsoleReport } from './console-report.ts';
import type { WatchRun } from './measure-watchers.ts';

const lists = { seconds: 60, acknowledged: 6000, otherStatuses: {}, p50Ms: 2, p99Ms: 10 };
const watch = (overrides: Partial<WatchRun> = {}): WatchRun => ({
  streams: 1000,
  publishedPerSecond: 5000,
  maxPerSecond: 20,
  lists,
  apiCores: 0.4,
  apiMaxRssBytes: 150 * 2 ** 20,
  quietMs: [90, 120],
  ...overrides,
});
const live = { usable: [{ ms: 900, mainThreadMs: 500 }], interactionMs: [16, 60], curlMs: [400, 900] };
const met: ConsoleMeasurement = {
  sizes: { firstLoad: 200_000, fonts: 80_000, pages: { 'src/pages/live/page.tsx': 30_000 } },
  live,
  flood: { frameMs: [16, 30], mainThreadCores: 0.1 },
  watching: [watch({ streams: 0 }), watch({ lists: { ...lists, p99Ms: 19 } })],
  events: { events: 10, shownMs: [700], apiMs: [40] },
};
const verdicts = (overrides: Partial<ConsoleMeasurement>) =>
  formatConsoleReport({ ...met, ...overrides })
    .split('\n')
    .filter((line) => /^(NOT )?MET/.test(line))
    .map((line) => line.startsWith('MET'));

test('reports every target of a fast run as met', () => {
  expect(verdicts({})).toEqual(Array(12).fill(true));
});

test.each<[string, Partial<ConsoleMeasurement>, number]>([
  ['a large page', { sizes: { ...met.sizes, pages: { 'src/pages/live/page.tsx': 101_000 } } }, 1],
  ['a slow page', { live: { ...live, usable: [{ ms: 1600, mainThreadMs: 500 }] } }, 3],
  ['a slow key', { live: { ...live, interactionMs: [16, 120] } }, 4],
  ['a late event', { live: { ...live, curlMs: [400, 2100] } }, 5],
  ['a long frame', { flood: { frameMs: [16, 240], mainThreadCores: 0.1 } }, 6],
  ['slower responses with watchers', { watching: [watch(), watch({ lists: { ...lists, p99Ms: 21 } })] }, 7],
  ['more memory with watchers', { watching: [watch(), watch({ apiMaxRssBytes: 251 * 2 ** 20 })] }, 8],
  ['too many messages', { watching: [watch(), watch({ maxPerSecond: 21 })] }, 9],
  ['an event of the quiet project that is missing', { watching: [watch(), watch({ quietMs: [Infinity] })] }, 10],
  ['a slow list', { events: { events: 1, shownMs: [1200], apiMs: [1] } }, 11],
])('reports a target as not met: %s', (_, overrides, missed) => {
  expect(verdicts(overrides)).toEqual(Array.from({ length: 12 }, (_unused, at) => at !== missed));
});

test('omits the targets of measurements that were not selected', () => {
  expect(formatConsoleReport({ sizes: met.sizes }).match(/^MET/gm)).toHaveLength(3);
});
