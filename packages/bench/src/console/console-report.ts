// Writes the report of the console benchmark.

import { formatMedians, formatReport, formatRuns, median, percentile, type Target } from '../harness/report.ts';
import type { EventsRun } from './measure-events.ts';
import type { FirstLoad } from './measure-first-load.ts';
import type { FloodRun } from './measure-live.ts';
import type { WatchRun } from './measure-watchers.ts';
import type { PageTimings } from './open-page.ts';

/** The measurements. For a measurement that was not selected, the report contains neither figures nor targets. */
export interface ConsoleMeasurement {
  sizes: { firstLoad: number; fonts: number; pages: Record<string, number> };
  loads?: FirstLoad[];
  live?: { usable: PageTimings[]; interactionMs: number[]; curlMs: number[] };
  flood?: FloodRun;
  /** A run without watchers, followed by a run with watchers. */
  watching?: [WatchRun, WatchRun];
  events?: EventsRun;
}

type Part = [title: string, table: string, targets: Target[]];

export function formatConsoleReport({ sizes, loads, live, flood, watching, events }: ConsoleMeasurement): string {
  const parts = [sizesPart(sizes)];
  if (loads) parts.push(loadsPart(loads));
  if (live) parts.push(livePart(live));
  if (flood) parts.push(floodPart(flood));
  if (watching) parts.push(watchingPart(watching));
  if (events) parts.push(eventsPart(events));
  return formatReport(
    parts.map(([title, table]) => [title, table]),
    parts.flatMap(([, , targets]) => targets),
  );
}

function sizesPart(sizes: ConsoleMeasurement['sizes']): Part {
  const pages = Object.entries(sizes.pages).map(([path, bytes]) => ({ name: path.split('/').at(-2) ?? path, bytes }));
  const rows = [{ name: 'first load', bytes: sizes.firstLoad }, { name: 'fonts', bytes: sizes.fonts }, ...pages];
  const table = formatRuns(rows, ({ name }) => name, { KB: ({ bytes }) => bytes / 1000 });
  const largest = Math.max(0, ...pages.map(({ bytes }) => bytes));
  return [
    'Sizes with gzip',
    table,
    [
      ['KB of the first load', sizes.firstLoad / 1000, { atMost: 250 }],
      ['KB of the largest page', largest / 1000, { atMost: 100 }],
      ['KB of fonts', sizes.fonts / 1000, { atMost: 90 }],
    ],
  ];
}

function loadsPart(loads: FirstLoad[]): Part {
  const columns = {
    KB: ({ kilobytes }: FirstLoad) => kilobytes,
    files: ({ requests }: FirstLoad) => requests,
    'main thread ms': ({ mainThreadMs }: FirstLoad) => mainThreadMs,
  };
  const table = formatMedians(loads, ({ site }) => site, columns, [['millrace', 'unleash']]);
  return ['Sign-in page, first load, slowed', table, []];
}

function livePart({ usable, interactionMs, curlMs }: NonNullable<ConsoleMeasurement['live']>): Part {
  const usableMs = usable.map(({ ms }) => ms);
  const rows = [
    { name: 'Live shows events, slowed', ms: usableMs },
    { name: 'main thread part', ms: usable.map(({ mainThreadMs }) => mainThreadMs) },
    { name: 'from a click or key press to the next frame, slowed', ms: interactionMs },
    { name: 'from curl to the page', ms: curlMs },
  ];
  const table = formatRuns(rows, ({ name }) => name, {
    'p50 ms': ({ ms }) => median(ms),
    'max ms': ({ ms }) => Math.max(...ms),
    times: ({ ms }) => ms.length,
  });
  return [
    'Live',
    table,
    [
      ['ms until Live shows events, slowed, median', median(usableMs), { atMost: 1500 }],
      ['ms of an interaction, slowed, p98', percentile(interactionMs, 0.98), { atMost: 100 }],
      ['maximum ms from curl to the page', Math.max(...curlMs), { atMost: 2000 }],
    ],
  ];
}

function floodPart(flood: FloodRun): Part {
  const longest = Math.max(...flood.frameMs);
  const table = formatRuns([flood], () => 'open page', {
    frames: ({ frameMs }) => frameMs.length,
    'longest ms': () => longest,
    'main thread, cores': ({ mainThreadCores }) => mainThreadCores,
  });
  return ['1,000 events/s on Live', table, [['ms of the longest frame', longest, { atMost: 200 }]]];
}

function watchingPart([alone, watched]: [WatchRun, WatchRun]): Part {
  const megabytes = ({ apiMaxRssBytes }: WatchRun) => apiMaxRssBytes / 2 ** 20;
  const table = formatRuns([alone, watched], ({ streams }) => `${streams} streams`, {
    'events/s': (run) => run.publishedPerSecond,
    'messages/s, busiest stream': (run) => run.maxPerSecond,
    'API p50 ms': (run) => run.lists.p50Ms,
    'API p99 ms': (run) => run.lists.p99Ms,
    'API cores': (run) => run.apiCores,
    'API max RSS MB': megabytes,
    'quiet project p99 ms': (run) => percentile(run.quietMs, 0.99),
  });
  return [
    'Events with watchers',
    table,
    [
      ['additional API p99 ms with watchers', watched.lists.p99Ms - alone.lists.p99Ms, { atMost: 10 }],
      ['additional API RSS MB with watchers', megabytes(watched) - megabytes(alone), { atMost: 100 }],
      ['messages/s of the busiest stream', watched.maxPerSecond, { atMost: 20 }],
      ["ms until the quiet project's watcher has an event, p99", percentile(watched.quietMs, 0.99), { atMost: 1000 }],
    ],
  ];
}

function eventsPart(run: EventsRun): Part {
  const longest = Math.max(...run.shownMs);
  const table = formatRuns([run], ({ events }) => `${events} stored`, {
    'shown p50 ms': ({ shownMs }) => median(shownMs),
    'shown max ms': () => longest,
    'API part of p50 ms': ({ apiMs }) => median(apiMs),
  });
  const target: Target = ['maximum ms until Events shows the last hour', longest, { atMost: 1000 }];
  return ['Events, the first page of the last hour', table, [target]];
}
