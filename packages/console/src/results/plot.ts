// Computes the geometry of a chart. Coordinates are fractions of the width and height, from 0 to 1, with y = 0 at the
// top.

import { computeTicks, findFirstOpenInterval, type Interval, readInterval } from '@millrace/contracts/chart';
import type { NumberFormat } from '@millrace/contracts/numbers';
import { readNumberFormat, seriesValueAt } from '@millrace/contracts/numbers';
import { type InsightQuery, toFields } from './insight-query.ts';
import { chooseTone, formatSeriesName, getSeriesKey, type Series, selectCurrent } from './series.ts';

/** A series with its color, and the same series in the previous period. */
export interface Drawn {
  key: string;
  name: string;
  tone: string;
  series: Series;
  before: Series | undefined;
}

interface Bar {
  drawn: Drawn;
  from: number;
  to: number;
}

export interface Plot {
  days: readonly string[];
  drawn: readonly Drawn[];
  isBars: boolean;
  interval: Interval;
  format: NumberFormat;
  ticks: readonly number[];
  /** Index of the first interval that is still in progress. */
  open: number;
  stacks: readonly (readonly Bar[])[];
  x: (at: number) => number;
  y: (value: number) => number;
}

const isBarChart = (insightQuery: InsightQuery) =>
  insightQuery.kind === 'LifecycleQuery' ||
  /^Actions(Unstacked|Stacked)?Bar$/.test(String(toFields(insightQuery.trendsFilter).display));

/** Combines each series of the current period with the same series in the previous period. */
export function toDrawnSeries(series: readonly Series[]): Drawn[] {
  const before = new Map(
    series.filter(({ compare_label: period }) => period === 'previous').map((one) => [getSeriesKey(one), one]),
  );
  return selectCurrent(series).map((one, at) => ({
    key: getSeriesKey(one),
    name: formatSeriesName(one),
    tone: chooseTone(one, at),
    series: one,
    before: before.get(getSeriesKey(one)),
  }));
}

/** Computes the plot of a chart. @param drawn the visible series @param now the local time in the project time zone */
export function createPlot(
  drawn: readonly Drawn[],
  { insightQuery, now }: { insightQuery: InsightQuery; now: number },
): Plot {
  const days = drawn[0]?.series.days ?? [];
  const isBars = isBarChart(insightQuery);
  const format = readNumberFormat(insightQuery);
  const stacks = isBars ? days.map((_, at) => stackOf(drawn, at)) : [];
  const values = isBars
    ? stacks.flatMap((bars) => bars.map(({ to }) => to))
    : drawn.flatMap(({ series, before }) => [...series.data, ...(before?.data ?? [])]);
  const ticks = computeTicks(values, format);
  const [least = 0, most = 1] = [ticks[0], ticks.at(-1)];
  const interval = readInterval(insightQuery);
  return {
    days,
    drawn,
    isBars,
    interval,
    format,
    ticks,
    stacks,
    open: findFirstOpenInterval(days, interval, now),
    x: (at) => (at + 0.5) / Math.max(1, days.length),
    y: (value) => 1 - (value - least) / (most - least),
  };
}

/** Returns an interval's stacked bars. Negative values are stacked downwards. */
function stackOf(drawn: readonly Drawn[], at: number): Bar[] {
  let [up, down] = [0, 0];
  return drawn.map((one) => {
    const value = one.series.data[at] ?? 0;
    const from = value >= 0 ? up : down;
    if (value >= 0) up += value;
    else down += value;
    return { drawn: one, from, to: from + value };
  });
}

/** Returns the index of the interval at a horizontal position. @param share the position as a fraction of the width */
export const findIntervalAt = ({ days }: Plot, share: number) =>
  Math.max(0, Math.min(days.length - 1, Math.floor(share * days.length)));

/** Returns the series at a position: the segment of the stacked bar, or the nearest line. */
export function findNearest({ drawn, isBars, stacks, y }: Plot, at: number, share: number): Drawn | undefined {
  const distance = (one: Drawn): number => {
    const value = seriesValueAt(one.series, at);
    if (value === null) return Number.POSITIVE_INFINITY;
    if (!isBars) return Math.abs(y(value) - share);
    const bar = stacks[at]?.find((other) => other.drawn === one);
    if (bar === undefined || bar.from === bar.to) return Number.POSITIVE_INFINITY;
    const [top, bottom] = [y(bar.from), y(bar.to)].sort((a, b) => a - b) as [number, number];
    return Math.max(0, top - share, share - bottom);
  };
  let [nearest, least]: [Drawn | undefined, number] = [undefined, Number.POSITIVE_INFINITY];
  for (const one of drawn) {
    const far = distance(one);
    if (nearest === undefined || far < least) [nearest, least] = [one, far];
  }
  return nearest;
}
