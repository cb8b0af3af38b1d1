import { everyRun, median, mediansByName, percentile, report } from './report.ts';

/** Both libraries beside each other, then the targets and whether they are met. */
export function browserReport(measured: BrowserMeasurement): string {
  const ofLibrary = (library: Library) => percentile(clickCosts(measured, library), 0.95);
  const [clickMs, clickReferenceMs] = [ofLibrary('millrace'), ofLibrary('reference')];
  const init = median(measured.initMs.millrace) / median(measured.initMs.reference);
  const inits = (['millrace', 'reference'] as const).flatMap((library) =>
    measured.initMs[library].map((ms) => ({ library, ms })),
  );
  const sides = (['millrace', 'reference', 'none'] as const).map((side) => ({
    ...{ side, cost: clickCosts(measured, side), runs: runsOf(measured, side) },
  }));
  const clicks = everyRun(sides, ({ side }) => (side === 'none' ? 'no library' : `${side}, increase over no library`), {
    'p50 ms': ({ cost }) => percentile(cost, 0.5),
    'p95 ms': ({ cost }) => percentile(cost, 0.95),
    'tasks over 50 ms': ({ runs }) => runs.map(({ longTasks }) => longTasks).join(' '),
    'main thread ms': ({ runs }) => median(runs.map(({ mainThreadMs }) => mainThreadMs)),
  });
  return report(
    [
      ['Script and init', mediansByName(inits, ({ library }) => library, { ms: ({ ms }) => ms })],
      ['Clicks', clicks],
    ],
    [
      ["script and init relative to PostHog's, medians", init, { atMost: 0.5 }],
      ['ms of a captured click, p95', clickMs, { atMost: 2 }],
      ["a captured click relative to PostHog's, p95", clickMs / clickReferenceMs, { atMost: 0.7 }],
      ['tasks over 50 ms caused in all runs', causedLongTasks(measured), { atMost: 0 }],
    ],
  );
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
  /** Evaluating the script and `init` until it returns, one for each page. */
  initMs: Record<Library, number[]>;
  clicks: ClickRun[];
}
