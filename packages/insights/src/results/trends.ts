// Converts counts per interval to the series that clients draw.

import { nullLabel, otherLabel } from '../breakdown-labels.ts';
import type { SeriesRow } from '../event-store/queries.ts';
import type { PlanContext } from '../plan/context.ts';
import type { TrendsPeriod, TrendsPlan } from '../plan/trends.ts';
import type { EventsNode } from '../query.ts';
import { formatBucketLabels, formatIso } from './time-labels.ts';

/** The numbers for one breakdown value, or for all events. */
interface Line {
  values: string[];
  isOther: boolean;
  data: number[];
}

/** @param rows the rows of each period, for each series */
export function formatTrends(plan: TrendsPlan, rows: SeriesRow[][][], context: PlanContext) {
  let hasMore = false;
  const results = plan.periods.flatMap((period, at): Record<string, unknown>[] => {
    const lines = (rows[at] ?? []).map((ofSeries) => linesOf(plan, period, ofSeries));
    if (plan.formulas.length === 0) {
      hasMore ||= lines.some((some) => some.some(({ isOther }) => isOther));
      return lines.flatMap((some, series) =>
        linesToReturn(plan, some).map((line) => seriesResult(plan, { period, line, series, context })),
      );
    }
    const kept = keepLargest(plan, lines);
    hasMore ||= kept.some((some) => some.some(({ isOther }) => isOther));
    return plan.formulas.flatMap((formula, order) =>
      linesToReturn(plan, formulaLines(plan, kept, formula.of)).map((line) =>
        formulaResult(plan, { period, line, label: formula.label, order, context }),
      ),
    );
  });
  return { results, hasMore };
}

const linesToReturn = ({ breakdown }: TrendsPlan, lines: Line[]) =>
  breakdown.hidesOther ? lines.filter(({ isOther }) => !isOther) : lines;
const sumOf = (numbers: number[]) => numbers.reduce((sum, number) => sum + number, 0);

/**
 * Builds lines with a number for every interval. Lines with larger totals come first. The lines for missing values and
 * for all other values come last.
 */
function linesOf(plan: TrendsPlan, { period, storeQueries: [storeQuery] }: TrendsPeriod, rows: SeriesRow[]): Line[] {
  const length = plan.isTotal ? 1 : period.edges.length;
  const lines = new Map<string, Line>();
  if (plan.breakdown.breakdowns.length === 0)
    lines.set('', { values: [], isOther: false, data: new Array(length).fill(0) });
  for (const { bucket, values, isOther, number } of rows) {
    const shown = values.map((value, at) =>
      isOther ? otherLabel : formatBreakdownValue(value, storeQuery?.breakdowns[at]?.bins ?? null),
    );
    const key = JSON.stringify(shown);
    const line = lines.get(values.length === 0 ? '' : key) ?? {
      values: shown,
      isOther,
      data: new Array<number>(length).fill(0),
    };
    lines.set(values.length === 0 ? '' : key, line);
    if (bucket >= 0 && bucket < length)
      line.data[bucket] = (line.data[bucket] ?? 0) + (Number.isFinite(number) ? number : 0);
  }
  const inOrder = sorted([...lines.values()]);
  return inOrder.map((line) => ({ ...line, data: smoothed(plan, line.data) }));
}

/** Formats a breakdown value: a list as compact JSON, and a numeric bin by its bounds. */
export function formatBreakdownValue(value: string | null, bins: readonly number[] | null): string {
  if (value === null) return nullLabel;
  if (bins !== null) return binText(bins, Number(value)) ?? nullLabel;
  if (!/^[[{]/.test(value)) return value;
  try {
    return JSON.stringify(JSON.parse(value));
  } catch {
    return value;
  }
}

function binText(bins: readonly number[], at: number): string | null {
  const [low, high] = [bins[at], bins[at + 1]];
  return low === undefined || high === undefined ? null : `[${low},${high}]`;
}

function sorted(lines: Line[]): Line[] {
  const rank = ({ isOther, values }: Line) => (isOther ? 2 : values.includes(nullLabel) ? 1 : 0);
  const byText = (a: string, b: string) => (a < b ? -1 : a > b ? 1 : 0);
  return lines.sort(
    (a, b) => rank(a) - rank(b) || sumOf(b.data) - sumOf(a.data) || byText(a.values.join('\0'), b.values.join('\0')),
  );
}

/** Applies the moving average, rounded down as clients expect. */
function smoothed({ isTotal, isCumulative, smoothing }: TrendsPlan, data: number[]): number[] {
  if (isTotal) return data;
  let sum = 0;
  const numbers = isCumulative ? data.map((number) => (sum += number)) : data;
  if (smoothing <= 1) return numbers;
  return numbers.map((_, at) => {
    const window = numbers.slice(Math.max(0, at - smoothing + 1), at + 1);
    return Math.floor(sumOf(window) / window.length);
  });
}

/**
 * Selects the breakdown values for formulas. All series use the values with the largest totals over all series. The
 * other values are combined.
 */
function keepLargest({ breakdown }: TrendsPlan, lines: Line[][]): Line[][] {
  if (breakdown.breakdowns.length === 0) return lines;
  const all = new Map<string, Line>();
  for (const line of lines.flat()) {
    const key = JSON.stringify(line.values);
    const sum = all.get(key);
    all.set(
      key,
      sum === undefined ? line : { ...line, data: line.data.map((number, at) => number + (sum.data[at] ?? 0)) },
    );
  }
  const kept = new Set(
    sorted([...all.values()])
      .filter(({ isOther }) => !isOther)
      .slice(0, breakdown.limit)
      .map(({ values }) => JSON.stringify(values)),
  );
  return lines.map((some) => {
    const others = some.filter((line) => line.isOther || !kept.has(JSON.stringify(line.values)));
    const stay = some.filter((line) => !others.includes(line));
    const [first] = others;
    if (first === undefined) return stay;
    const data = first.data.map((_, at) => sumOf(others.map((line) => line.data[at] ?? 0)));
    return [...stay, { values: first.values.map(() => otherLabel), isOther: true, data }];
  });
}

function formulaLines({ breakdown }: TrendsPlan, lines: Line[][], formula: (numbers: number[]) => number): Line[] {
  const places = lines.map((some) => new Map(some.map((line) => [JSON.stringify(line.values), line])));
  const each = new Map(lines.flat().map((line) => [JSON.stringify(line.values), line]));
  const results = [...each].map(([key, { values, isOther, data }]) => ({
    values,
    isOther,
    data: data.map((_, at) => formula(places.map((place) => place.get(key)?.data[at] ?? 0))),
  }));
  return breakdown.breakdowns.length === 0 ? results : sorted(results);
}

interface LineResult {
  period: TrendsPeriod;
  line: Line;
  context: PlanContext;
}

function seriesResult(plan: TrendsPlan, { series, ...result }: LineResult & { series: number }) {
  const node = plan.series[series] ?? { kind: 'EventsNode' };
  const name = node.event ?? 'All events';
  const value = result.line.values.join('::');
  const label = result.line.values.length === 0 ? name : plan.series.length === 1 ? value : `${name} - ${value}`;
  const { data } = result.line;
  const shape = plan.isTotal
    ? { data: [], days: [], count: 0, aggregated_value: data[0] ?? 0 }
    : timeSeries(plan, result);
  return {
    action: actionOf(node, { ...result, order: series }),
    label,
    order: series,
    ...shape,
    ...breakdownFields(plan, result.line),
    ...compareFields(result.period),
    filter: filterOf(result),
  };
}

function formulaResult(plan: TrendsPlan, { label, order, ...result }: LineResult & { label: string; order: number }) {
  const { data } = result.line;
  const shape = plan.isTotal
    ? { data: null, days: [], count: 0, aggregated_value: data[0] ?? 0 }
    : { ...timeSeries(plan, result), count: sumOf(data) };
  return {
    action: null,
    label,
    order,
    ...shape,
    ...breakdownFields(plan, result.line),
    ...compareFields(result.period),
    filter: filterOf(result),
  };
}

function timeSeries({ isCumulative }: TrendsPlan, { period, line: { data }, context }: LineResult) {
  const count = isCumulative ? (data.at(-1) ?? 0) : sumOf(data);
  return { data, count, ...formatBucketLabels(period.period, context.clock) };
}

function breakdownFields({ breakdown }: TrendsPlan, { values }: Line) {
  if (values.length === 0) return {};
  return { breakdown_value: breakdown.isList ? values : (values[0] ?? nullLabel) };
}

function compareFields({ label }: TrendsPeriod) {
  return label === null ? {} : { compare: true, compare_label: label };
}

function actionOf(node: Partial<EventsNode>, { period, order, context }: LineResult & { order: number }) {
  return {
    days: period.period.edges.map((edge) => formatIso(edge, context.clock)),
    id: node.event ?? null,
    type: 'events',
    order,
    name: node.event ?? 'All events',
    custom_name: node.custom_name ?? null,
    math: node.math ?? null,
    math_property: node.math_property ?? null,
    math_hogql: node.math_hogql ?? null,
    math_group_type_index: node.math_group_type_index ?? null,
    properties: {},
  };
}

function filterOf({ period: { period }, context }: LineResult) {
  const { date_from, date_to } = formatRange(period, context);
  return { insight: 'TRENDS', date_from, date_to, interval: period.interval };
}

/** Formats both ends of a range for a response. In responses, the end is inclusive. */
export function formatRange({ from, to }: { from: number; to: number }, { clock }: PlanContext) {
  return { date_from: formatIso(from, clock), date_to: formatIso(to - 1, clock, to % 1000 === 0 ? '.999999' : '') };
}
