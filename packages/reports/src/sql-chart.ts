// Builds the figure and the chart for an SQL insight in a report.

import { maxColors } from '@millrace/contracts/chart';
import { plainFormat } from '@millrace/contracts/numbers';
import type { QueryResult, Visualization } from '@millrace/insights';
import type { Chart } from './chart.ts';
import type { Figure } from './figures.ts';

interface Column {
  name: string;
  at: number;
  kind: 'number' | 'time' | 'text' | 'other';
}

function columnsOf({ types = [] }: QueryResult): Column[] {
  return types.map((entry, at) => {
    const [name = '', type = ''] = Array.isArray(entry) ? entry : ['', entry];
    const bare = type.replace(/^Nullable\(/, '');
    const kind = /^(U?Int|Float)/.test(bare)
      ? 'number'
      : /^Date/.test(bare)
        ? 'time'
        : /^String/.test(bare)
          ? 'text'
          : 'other';
    return { name, at, kind };
  });
}

const rowsOf = ({ results }: QueryResult): unknown[][] => (Array.isArray(results) ? results.filter(Array.isArray) : []);
const numberOf = (value: unknown) => (typeof value === 'number' ? value : null);

/** Returns the result's first number if the insight shows a single number, and otherwise an empty list. */
export function buildSingleNumberFigures(result: QueryResult, { display, y }: Visualization): Figure[] {
  if (display !== 'BoldNumber') return [];
  const columns = columnsOf(result);
  const column = columns.find(({ name }) => name === y[0]) ?? columns.find(({ kind }) => kind === 'number');
  const value = column && numberOf(rowsOf(result)[0]?.[column.at]);
  if (!column || value === null || value === undefined) return [];
  return [{ label: column.name.slice(0, 100), value, format: plainFormat, of: 'total', before: null }];
}

const lineDisplays = new Set(['ActionsLineGraph', 'ActionsAreaGraph']);
const barDisplays = new Set(['ActionsBar', 'ActionsStackedBar']);
const maxTimes = 400;
const maxBars = 12;

/** Returns the chart of a result, or null if the insight shows a table or a column of an axis is missing. */
export function buildSqlChart(result: QueryResult, { display, ...named }: Visualization): Chart | null {
  const isBars = barDisplays.has(display ?? '');
  if (!isBars && !lineDisplays.has(display ?? '')) return null;
  const columns = columnsOf(result);
  const x =
    columns.find(({ name }) => name === named.x) ??
    columns.find(({ kind }) => kind === 'time') ??
    columns.find(({ kind }) => kind === 'text');
  const numbers = columns.filter((one) => one.kind === 'number' && one !== x);
  const chosen = numbers.filter(({ name }) => named.y.includes(name));
  const y = chosen.length > 0 ? chosen : numbers;
  const [first] = y;
  if (x === undefined || first === undefined) return null;
  const rows = rowsOf(result);
  if (x.kind !== 'time') {
    const bars = rows.slice(0, maxBars).flatMap((row) => {
      const value = numberOf(row[first.at]);
      return value === null ? [] : [{ label: String(row[x.at] ?? '(none)').slice(0, 100), value }];
    });
    return bars.length === 0 ? null : { shape: 'rows', format: plainFormat, rows: bars };
  }
  const breakdown = columns.find(({ name }) => name === named.breakdown) ?? null;
  return overTime(rows, { x, y, breakdown, shape: isBars ? 'bars' : 'lines' });
}

function overTime(
  rows: unknown[][],
  { x, y, breakdown, shape }: { x: Column; y: Column[]; breakdown: Column | null; shape: 'bars' | 'lines' },
): Chart | null {
  const times = [...new Set(rows.map((row) => wallTime(row[x.at])))].filter((time) => time !== '').sort();
  const shown = times.slice(-maxTimes);
  const series = new Map<string, Map<string, number | null>>();
  for (const row of rows) {
    for (const column of y) {
      const group = breakdown === null ? null : String(row[breakdown.at] ?? '(none)');
      const label = group === null ? column.name : y.length === 1 ? group : `${group} · ${column.name}`;
      const points = series.get(label) ?? new Map<string, number | null>();
      points.set(wallTime(row[x.at]), numberOf(row[column.at]));
      series.set(label, points);
    }
  }
  if (shown.length === 0) return null;
  return {
    shape,
    times: shown,
    open: shown.length,
    format: plainFormat,
    series: [...series].slice(0, maxColors).map(([label, points], at) => ({
      label: label.slice(0, 100),
      color: at,
      isBefore: false,
      data: shown.map((time) => points.get(time) ?? null),
    })),
  };
}

/** Returns the local time without its offset. For midnight, returns only the day. */
function wallTime(value: unknown): string {
  const text = typeof value === 'string' ? value.slice(0, 19).replace('T', ' ') : '';
  return text.replace(/ 00:00:00$/, '');
}
