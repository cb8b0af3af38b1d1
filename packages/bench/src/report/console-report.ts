import { everyRun, median, mediansByName, percentile, report, type Target } from './report.ts';

export interface EventsRun {
  events: number;
  /** The first page of the last hour: on the screen, and of it the API's answer alone. */
  shownMs: number[];
  answeredMs: number[];
  /** A filter that reads all events of a month says so on the page. */
  isWalkAnnounced: boolean;
}

export interface FirstLoad {
  site: 'millrace' | 'unleash';
  /** Of markup, scripts and styles, with gzip. */
  kilobytes: number;
  requests: number;
  /** What the main thread did until nothing more was asked for, with the processor slowed. */
  mainThreadMs: number;
}

export interface FloodRun {
  frameMs: number[];
  heapBytes: number[];
  /** Of a core, used by the page's main thread. */
  mainThreadShare: number;
  /** Rows that the list says it has. */
  keptRows: number;
  shareTold: boolean;
}

export interface WatchRun {
  /** Of the busy projects together, as they came onto the topic. */
  publishedPerSecond: number;
  /** Streams that were open all the time. */
  streams: number;
  messages: number;
  seconds: number;
  /** A second and stream; of the busiest stream. */
  messagesPerSecond: number;
  mostPerSecond: number;
  told: number;
  api: { p50Ms: number; p99Ms: number };
  /** Cores that the API used. */
  apiCores: number;
  apiMaxRssBytes: number;
  /** From sending an event of the quiet project until its watcher has it; Infinity = never. */
  quietMs: number[];
}

export interface Drawn {
  /** From the navigation until the selector is on the page and drawn. */
  ms: number;
  /** What the main thread worked until then: the same on a busy machine. */
  mainThreadMs: number;
}

/** What was measured; a part that was left out has no figures and no targets. */
export interface ConsoleMeasurement {
  sizes: { firstLoad: number; fonts: number; pages: Record<string, number> };
  loads?: FirstLoad[];
  usable?: Drawn[];
  interactionMs?: number[];
  curlMs?: number[];
  floods?: (FloodRun & { name: string })[];
  /** Without watchers, then with them. */
  watching?: WatchRun[];
  events?: EventsRun;
}

const megabyte = 2 ** 20;

export function consoleReport(measured: ConsoleMeasurement): string {
  const parts = [sizesOf(measured), loadsOf(measured), liveOf(measured), floodsOf(measured), watchingOf(measured)];
  const all = [...parts, eventsOf(measured)].filter((part) => part !== null);
  return report(
    all.flatMap(({ tables }) => tables),
    all.flatMap(({ targets }) => targets),
  );
}

interface Part {
  tables: [title: string, table: string][];
  targets: Target[];
}

function sizesOf({ sizes }: ConsoleMeasurement): Part {
  const pages = Object.entries(sizes.pages).map(([path, bytes]) => ({ name: path.split('/').at(-2) ?? path, bytes }));
  const rows = [{ name: 'first load', bytes: sizes.firstLoad }, { name: 'fonts', bytes: sizes.fonts }, ...pages];
  const largest = Math.max(0, ...pages.map(({ bytes }) => bytes));
  return {
    tables: [['Sizes with gzip', everyRun(rows, ({ name }) => name, { KB: ({ bytes }) => bytes / 1000 })]],
    targets: [
      ['KB of the first load', sizes.firstLoad / 1000, { atMost: 250 }],
      ['KB of the largest page', largest / 1000, { atMost: 80 }],
      ['KB of fonts', sizes.fonts / 1000, { atMost: 90 }],
    ],
  };
}

function loadsOf({ loads = [] }: ConsoleMeasurement): Part | null {
  if (loads.length === 0) return null;
  const columns = {
    KB: ({ kilobytes }: FirstLoad) => kilobytes,
    files: ({ requests }: FirstLoad) => requests,
    'main thread ms': ({ mainThreadMs }: FirstLoad) => mainThreadMs,
  };
  const table = mediansByName(loads, ({ site }) => site, columns, [['millrace', 'unleash']]);
  return { tables: [['Sign-in page, first load, slowed', table]], targets: [] };
}

function liveOf({ usable = [], interactionMs = [], curlMs = [] }: ConsoleMeasurement): Part | null {
  if (usable.length === 0) return null;
  const usableMs = usable.map(({ ms }) => ms);
  const rows = [
    { name: 'Live shows events, slowed', ms: usableMs },
    { name: 'main thread part', ms: usable.map(({ mainThreadMs }) => mainThreadMs) },
    { name: 'from a click or key press to the next frame, slowed', ms: interactionMs },
    { name: 'from curl to the page', ms: curlMs },
  ];
  const table = everyRun(rows, ({ name }) => name, {
    'p50 ms': ({ ms }) => median(ms),
    'most ms': ({ ms }) => Math.max(...ms),
    times: ({ ms }) => ms.length,
  });
  return {
    tables: [['Live', table]],
    targets: [
      ['ms until Live shows events, slowed, median', median(usableMs), { atMost: 1500 }],
      ['ms of an interaction, slowed, p98', percentile(interactionMs, 0.98), { atMost: 100 }],
      ['maximum ms from curl to the page', Math.max(...curlMs), { atMost: 2000 }],
    ],
  };
}

function floodsOf({ floods = [] }: ConsoleMeasurement): Part | null {
  if (floods.length === 0) return null;
  const longest = ({ frameMs }: FloodRun) => Math.max(...frameMs);
  const table = everyRun(floods, ({ name }) => name, {
    frames: ({ frameMs }) => frameMs.length,
    'p99 ms': ({ frameMs }) => percentile(frameMs, 0.99),
    'longest ms': longest,
    'main thread, cores': ({ mainThreadShare }) => mainThreadShare,
    'heap MB, by quarter': ({ heapBytes }) => heapBytes.map((bytes) => (bytes / megabyte).toFixed(1)).join(' '),
    'rows kept': ({ keptRows }) => keptRows,
    'share reported': ({ shareTold }) => (shareTold ? 'yes' : 'no'),
  });
  return {
    tables: [['1,000 events/s on Live', table]],
    targets: [
      ['ms of the longest frame', Math.max(...floods.map(longest)), { atMost: 200 }],
      // Of the second quarter: by then all rows are there.
      [
        'heap at the end relative to the heap after half of the time',
        Math.max(...floods.map(growth)),
        { atMost: 1.15 },
      ],
      ['rows kept', Math.max(...floods.map(({ keptRows }) => keptRows)), { atMost: 1000 }],
    ],
  };
}

const growth = ({ heapBytes: [, half = Number.NaN, , end = Number.NaN] }: FloodRun) => end / half;

function watchingOf({ watching = [] }: ConsoleMeasurement): Part | null {
  const [alone, watched] = watching;
  if (!alone || !watched) return null;
  const table = everyRun([alone, watched], ({ streams }) => `${streams} streams`, {
    'events/s': (run) => run.publishedPerSecond,
    'messages/s a stream': (run) => run.messagesPerSecond,
    'maximum per stream': (run) => run.mostPerSecond,
    'with a reported share': (run) => run.told,
    'API p50 ms': (run) => run.api.p50Ms,
    'API p99 ms': (run) => run.api.p99Ms,
    'API cores': (run) => run.apiCores,
    'additional API µs per message': (run) =>
      run.messages === 0 ? '' : ((run.apiCores - alone.apiCores) * run.seconds * 1e6) / run.messages,
    'API max RSS MB': (run) => run.apiMaxRssBytes / megabyte,
    'quiet project p50 ms': (run) => percentile(run.quietMs, 0.5),
    'quiet project p99 ms': (run) => percentile(run.quietMs, 0.99),
  });
  return {
    tables: [['Events with watchers', table]],
    targets: [
      ['additional API p99 ms with watchers', watched.api.p99Ms - alone.api.p99Ms, { atMost: 10 }],
      [
        'additional API RSS MB with watchers',
        (watched.apiMaxRssBytes - alone.apiMaxRssBytes) / megabyte,
        { atMost: 100 },
      ],
      ['messages/s of the busiest stream', watched.mostPerSecond, { atMost: 20 }],
      ['streams without a reported share', watched.streams - watched.told, { atMost: 0 }],
      ["ms until the quiet project's watcher has an event, p99", percentile(watched.quietMs, 0.99), { atMost: 1000 }],
    ],
  };
}

function eventsOf({ events: run }: ConsoleMeasurement): Part | null {
  if (run === undefined) return null;
  const table = everyRun([run], ({ events }) => `${events} stored`, {
    'shown p50 ms': ({ shownMs }) => median(shownMs),
    'shown most ms': ({ shownMs }) => Math.max(...shownMs),
    'API part of p50 ms': ({ answeredMs }) => median(answeredMs),
  });
  return {
    tables: [['Events, the first page of the last hour', table]],
    targets: [
      ['maximum ms until Events shows the last hour', Math.max(...run.shownMs), { atMost: 1000 }],
      ['unannounced scans of a project', run.isWalkAnnounced ? 0 : 1, { atMost: 0 }],
    ],
  };
}
