import { median, percentile, readable, textTable, verdict } from './report.ts';

const targets = {
  /** Bytes. */
  sizes: { script: 18_000, slim: 8_000, react: 3_000 },
  ...{ initOverReference: 0.5, clickMs: 2, clickOverReference: 0.7, longTasks: 0 },
} as const;

const titles = {
  script: 'script for pages, with autocapture and flags',
  slim: 'slim client in an application',
  react: 'React binding in an application',
} as const;

/** Both libraries beside each other, where our bytes are, then the targets and whether they are met. */
export function browserReport(measured: BrowserMeasurement): string {
  return [
    textTable([
      ['KB after gzip', 'millrace', 'reference', 'ratio', 'target'],
      ...measured.sizes.map(({ name, bytes, referenceBytes }) => [
        titles[name],
        ...[kilobytes(bytes), kilobytes(referenceBytes), (bytes / referenceBytes).toFixed(2)],
        kilobytes(targets.sizes[name]),
      ]),
    ]),
    ...measured.sizes.flatMap(roomLines),
    '',
    textTable([
      ['script and init', 'pages', 'median ms', 'p95 ms'],
      ...(['millrace', 'reference'] as const).map((library) => timeRow(library, measured.initMs[library])),
    ]),
    '',
    textTable([
      ['clicks', 'clicks', 'p50 ms', 'p95 ms', 'tasks over 50 ms', 'main thread ms'],
      ...(['millrace', 'reference', 'none'] as const).map((side) => clickRow(side, measured)),
    ]),
    '',
    'Targets',
    ...verdicts(measured),
  ].join('\n');
}

/** Nothing of a size that is met: nobody has to look for bytes then. */
function roomLines({ name, bytes, rooms }: SizeMeasurement): string[] {
  if (bytes <= targets.sizes[name]) return [];
  const sorted = Object.entries(rooms).sort(([, one], [, other]) => other - one);
  const listed = sorted.map(([room, size]) => `${room} ${kilobytes(size)}`).join(', ');
  return [`${titles[name]}, KB before gzip by room: ${listed}`];
}

function timeRow(name: string, values: readonly number[]): string[] {
  return [name, readable(values.length), median(values).toFixed(2), percentile(values, 0.95).toFixed(2)];
}

function clickRow(side: Side, measured: BrowserMeasurement): string[] {
  const runs = runsOf(measured, side);
  const cost = clickCosts(measured, side);
  return [
    side === 'none' ? 'no library' : `${side}, more than without`,
    ...[readable(cost.length), percentile(cost, 0.5).toFixed(2), percentile(cost, 0.95).toFixed(2)],
    runs.map(({ longTasks }) => longTasks).join(' '),
    readable(median(runs.map(({ mainThreadMs }) => mainThreadMs))),
  ];
}

function verdicts(measured: BrowserMeasurement): string[] {
  const ofLibrary = (library: Library) => percentile(clickCosts(measured, library), 0.95);
  const [clickMs, clickReferenceMs] = [ofLibrary('millrace'), ofLibrary('reference')];
  const init = median(measured.initMs.millrace) / median(measured.initMs.reference);
  return [
    ...Object.entries(targets.sizes).map(([name, bytes]) => {
      const size = measured.sizes.find((one) => one.name === name);
      const title = `KB of the ${titles[name as SizeMeasurement['name']]}`;
      return verdict(title, (size?.bytes ?? Number.NaN) / 1000, { atMost: bytes / 1000 });
    }),
    verdict("script and init over the reference's, medians", init, { atMost: targets.initOverReference }),
    verdict('ms of a captured click, p95', clickMs, { atMost: targets.clickMs }),
    verdict("a captured click over the reference's, p95", clickMs / clickReferenceMs, {
      atMost: targets.clickOverReference,
    }),
    verdict('tasks over 50 ms caused, of all runs', causedLongTasks(measured), { atMost: targets.longTasks }),
  ];
}

/** Milliseconds of each click, less what a click costs a page without a library. */
function clickCosts(measured: BrowserMeasurement, side: Side): number[] {
  const ofSide = (wanted: Side) => runsOf(measured, wanted).flatMap(({ clickMs }) => clickMs);
  const usual = side === 'none' ? 0 : median(ofSide('none'));
  return ofSide(side).map((ms) => ms - usual);
}

function causedLongTasks(measured: BrowserMeasurement): number {
  const sum = (side: Side) => runsOf(measured, side).reduce((all, { longTasks }) => all + longTasks, 0);
  return runsOf(measured, 'millrace').length === 0 ? Number.NaN : Math.max(0, sum('millrace') - sum('none'));
}

function runsOf({ clicks }: BrowserMeasurement, wanted: Side) {
  return clicks.filter(({ side }) => side === wanted);
}

function kilobytes(bytes: number): string {
  return (bytes / 1000).toFixed(1);
}

export interface SizeMeasurement {
  name: 'script' | 'slim' | 'react';
  /** Both after gzip. */
  bytes: number;
  referenceBytes: number;
  /** Of ours, where its bytes are, before gzip. */
  rooms: Record<string, number>;
}

type Library = 'millrace' | 'reference';

/** A page without a library is what both are compared with. */
export type Side = Library | 'none';

/** One page, on a slowed processor, from the library's start to the last of the clicks. */
export interface ClickRun {
  side: Side;
  /** For each click, how long the page was busy with its events. */
  clickMs: number[];
  /** Tasks over 50 ms. */
  longTasks: number;
  /** All that the page's main thread did, whenever. */
  mainThreadMs: number;
}

export interface BrowserMeasurement {
  sizes: SizeMeasurement[];
  /** Evaluating the script and `init` until it returns, one for each page. */
  initMs: Record<Library, number[]>;
  clicks: ClickRun[];
}
