import { type ConsoleMeasurement, consoleReport } from './console-report.ts';

const api = { p50Ms: 2, p99Ms: 10 };
const watch = (overrides: object = {}) => ({
  ...{
    publishedPerSecond: 5000,
    streams: 1000,
    messages: 1200,
    seconds: 60,
    messagesPerSecond: 20,
    mostPerSecond: 20,
    told: 1000,
  },
  ...{ api, apiCores: 0.4, apiMaxRssBytes: 150 * 2 ** 20, quietMs: [90, 120], ...overrides },
});
const flood = (overrides: object = {}) => ({
  ...{
    name: 'page',
    frameMs: [16, 30],
    heapBytes: [9, 20, 20, 21],
    keptRows: 1000,
    shareTold: true,
    mainThreadShare: 0.1,
    ...overrides,
  },
});
const met: ConsoleMeasurement = {
  sizes: { firstLoad: 200_000, fonts: 80_000, pages: { 'src/pages/live/page.tsx': 30_000 } },
  usable: [{ ms: 900, mainThreadMs: 500 }],
  interactionMs: [16, 60],
  curlMs: [400, 900],
  floods: [flood()],
  watching: [watch({ streams: 0, told: 0 }), watch({ api: { ...api, p99Ms: 19 } })],
  events: { events: 10, shownMs: [700], answeredMs: [40], isWalkAnnounced: true },
};
const verdicts = (overrides: Partial<ConsoleMeasurement>) =>
  consoleReport({ ...met, ...overrides })
    .split('\n')
    .filter((line) => /^(NOT )?MET/.test(line))
    .map((line) => line.startsWith('MET'));

test('everything met', () => {
  expect(verdicts({})).toEqual(Array(16).fill(true));
});

test.each<[string, Partial<ConsoleMeasurement>, number[]]>([
  ['a large page', { sizes: { ...met.sizes, pages: { 'src/pages/live/page.tsx': 81_000 } } }, [1]],
  ['a slow page', { usable: [{ ms: 1600, mainThreadMs: 500 }] }, [3]],
  ['a slow key', { interactionMs: [16, 120] }, [4]],
  ['an event that comes late', { curlMs: [400, 2100] }, [5]],
  ['a long frame in one of the floods', { floods: [flood(), flood({ frameMs: [16, 240] })] }, [6]],
  ['a heap that grows', { floods: [flood({ heapBytes: [9, 20, 25, 30] })] }, [7]],
  ['more rows than are kept', { floods: [flood({ keptRows: 1001 })] }, [8]],
  ['slower answers, with watchers', { watching: [watch(), watch({ api: { ...api, p99Ms: 21 } })] }, [9]],
  ['more memory, with watchers', { watching: [watch(), watch({ apiMaxRssBytes: 251 * 2 ** 20 })] }, [10]],
  ['too many messages', { watching: [watch(), watch({ mostPerSecond: 21 })] }, [11]],
  ['a stream that is not told', { watching: [watch(), watch({ told: 999 })] }, [12]],
  ['an event of the quiet project that never came', { watching: [watch(), watch({ quietMs: [Infinity] })] }, [13]],
  [
    'a walk that is not announced',
    { events: { events: 1, shownMs: [1200], answeredMs: [1], isWalkAnnounced: false } },
    [14, 15],
  ],
])('%s is not met', (_, overrides, missed) => {
  expect(verdicts(overrides)).toEqual(Array.from({ length: 16 }, (_unused, at) => !missed.includes(at)));
});

test('parts that were left out have no targets', () => {
  expect(consoleReport({ sizes: met.sizes }).match(/^MET/gm)).toHaveLength(3);
});
