// Converts query results to tables, for files, terminals and emails.

/** Null means no value. Nested values are encoded as JSON. */
export type Cell = string | number | boolean | null;

export interface ResultTable {
  columns: string[];
  rows: Cell[][];
}

type Result = Record<string, unknown>;

/**
 * Converts the results of any query, as the `query/` endpoint returns them. The table has one row for each time of a
 * trend, each total, each funnel step, each retention cohort and each web analytics metric. Results that already are
 * rows are not changed.
 * @param columns the column names, if the results already are rows
 */
export function toResultTable(results: unknown, columns?: readonly string[] | null): ResultTable {
  if (columns) return { columns: [...columns], rows: listOf(results).map((row) => listOf(row).map(cellOf)) };
  if (isResult(results) && Array.isArray(results.bins)) return histogram(results.bins);
  const list = listOf(results);
  if (list.some(Array.isArray)) return funnel(list.flatMap((steps) => listOf(steps)).filter(isResult));
  const series = list.filter(isResult);
  const [first] = series;
  if (first === undefined) return { columns: [], rows: [] };
  if ('isIncreaseBad' in first) return overview(series);
  if (isResult(first.metrics)) return webTrend(series, Object.keys(first.metrics));
  if ('values' in first) return retention(series);
  if ('people' in first || 'action_id' in first) return funnel(series);
  if (listOf(first.days).length > 0) return overTime(series);
  return totals(series);
}

const listOf = (value: unknown): unknown[] => (Array.isArray(value) ? value : []);
const isResult = (value: unknown): value is Result =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

function cellOf(value: unknown): Cell {
  if (value === undefined || value === null) return null;
  return typeof value === 'object' ? JSON.stringify(value) : (value as Cell);
}

/** Returns a row's name: the label, the breakdown value if it is different, and the comparison period. */
function nameOf({
  label,
  custom_name: custom,
  action,
  breakdown_value: breakdown,
  compare_label: period,
}: Result): string {
  const own = custom ?? (isResult(action) ? action.custom_name : null) ?? label;
  const value = listOf(breakdown).length > 0 ? listOf(breakdown).join(', ') : breakdown;
  const parts = [own, value === label ? null : value, period];
  return parts.filter((part) => part !== null && part !== undefined && part !== '').join(' · ');
}

function overTime(series: Result[]): ResultTable {
  const days = listOf(series[0]?.days);
  return {
    columns: ['time', ...series.map(nameOf)],
    rows: days.map((day, at) => [
      cellOf(day),
      ...series.map(({ data, entered }) => (listOf(entered)[at] === 0 ? null : cellOf(listOf(data)[at]))),
    ]),
  };
}

function overview(items: Result[]): ResultTable {
  const columns = ['key', 'value', 'previous'];
  return { columns, rows: items.map((item) => columns.map((name) => cellOf(item[name]))) };
}

function webTrend(items: Result[], metrics: string[]): ResultTable {
  const numbersOf = (value: unknown) => (isResult(value) ? value : {});
  return {
    columns: ['time', ...metrics],
    rows: items.map((item) => [cellOf(item.bucket), ...metrics.map((name) => cellOf(numbersOf(item.metrics)[name]))]),
  };
}

function totals(series: Result[]): ResultTable {
  return {
    columns: ['series', 'value'],
    rows: series.map((one) => [nameOf(one), cellOf(one.aggregated_value ?? one.count)]),
  };
}

function funnel(steps: Result[]): ResultTable {
  const isBroken = steps.some(({ breakdown_value: value }) => value !== undefined);
  let first = 0;
  const rows = steps.map((step): Cell[] => {
    const count = Number(step.count);
    if (step.order === 0) first = count;
    return [
      ...(isBroken ? [nameOf({ breakdown_value: step.breakdown_value })] : []),
      Number(step.order) + 1,
      cellOf(step.custom_name ?? step.name ?? 'All events'),
      count,
      first === 0 ? null : Math.round((count / first) * 10_000) / 100,
      cellOf(step.average_conversion_time),
      cellOf(step.median_conversion_time),
    ];
  });
  const columns = ['step', 'event', 'count', 'percent of the first', 'average seconds', 'median seconds'];
  return { columns: [...(isBroken ? ['breakdown'] : []), ...columns], rows };
}

function histogram(bins: unknown[]): ResultTable {
  return { columns: ['seconds', 'count'], rows: bins.map((bin) => listOf(bin).map(cellOf)) };
}

function retention(groups: Result[]): ResultTable {
  const longest = Math.max(...groups.map(({ values }) => listOf(values).length));
  const widest = groups.find(({ values }) => listOf(values).length === longest) ?? {};
  const labels = listOf(widest.values).map((value) => (isResult(value) ? String(value.label) : ''));
  const isBroken = groups.some(({ breakdown_value: value }) => value !== undefined && value !== null);
  return {
    columns: [...(isBroken ? ['breakdown'] : []), 'begin', ...labels],
    rows: groups.map(({ date, values, breakdown_value: breakdown }) => [
      ...(isBroken ? [cellOf(breakdown)] : []),
      cellOf(date),
      ...labels.map((_, at) => {
        const value = listOf(values)[at];
        return isResult(value) ? cellOf(value.count) : null;
      }),
    ]),
  };
}
