/** Returns the middle value, or the mean of the two middle values. Returns NaN for an empty list. */
export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = Math.floor(sorted.length / 2);
  const upper = sorted[middle] ?? Number.NaN;
  return sorted.length % 2 === 1 ? upper : ((sorted[middle - 1] ?? Number.NaN) + upper) / 2;
}

/**
 * Returns the smallest value for which at least the given share (0 to 1) of all values is not larger (nearest rank).
 * Returns NaN for an empty list.
 */
export function percentile(values: readonly number[], share: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)] ?? Number.NaN;
}

/** Aligns the first column to the left, and all other columns to the right. */
export function formatTable(rows: readonly (readonly string[])[]): string {
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => (row[column] ?? '').length)));
  return rows
    .map((row) =>
      row
        .map((text, column) => (column === 0 ? text.padEnd(widths[column] ?? 0) : text.padStart(widths[column] ?? 0)))
        .join('  '),
    )
    .join('\n');
}

/**
 * The columns of a table of runs. Several runs are combined: numbers into their median, and strings into a list of
 * those that differ.
 */
export type Columns<Run> = Record<string, (run: Run) => number | string>;

export function formatRuns<Run>(runs: readonly Run[], nameOf: (run: Run) => string, columns: Columns<Run>): string {
  return formatTable([
    ['', ...Object.keys(columns)],
    ...runs.map((run) => [nameOf(run), ...figuresOf([run], columns).map(cell)]),
  ]);
}

/**
 * Formats a table with one row of medians per name, in the order of the names' first runs, followed by rows with the
 * ratios between two names.
 */
export function formatMedians<Run>(
  runs: readonly Run[],
  nameOf: (run: Run) => string,
  columns: Columns<Run>,
  ratios: readonly (readonly [name: string, other: string])[] = [],
): string {
  const of = (name: string) =>
    figuresOf(
      runs.filter((run) => nameOf(run) === name),
      columns,
    );
  return formatTable([
    ['', ...Object.keys(columns)],
    ...[...new Set(runs.map(nameOf))].map((name) => [name, ...of(name).map(cell)]),
    ...ratios.map(([name, other]) => {
      const others = of(other);
      return [`${name} relative to ${other}`, ...of(name).map((value, at) => ratio(value, others[at]))];
    }),
  ]);
}

function figuresOf<Run>(runs: readonly Run[], columns: Columns<Run>): (number | string)[] {
  return Object.values(columns).map((column) => {
    const values = runs.map(column);
    const words = values.filter((value) => typeof value === 'string');
    return words.length > 0 ? [...new Set(words)].join(', ') : median(values.map(Number));
  });
}

const cell = (value: number | string) => (typeof value === 'string' ? value : formatFigure(value));

function ratio(value: number | string, other: number | string = Number.NaN): string {
  return typeof value === 'string' ? '' : formatFigure(value / Number(other));
}

export function formatStatuses(counts: Record<string, number>): string {
  const listed = Object.entries(counts).map(([status, count]) => `${status}: ${count}`);
  return listed.join(', ') || 'none';
}

export type Target = [name: string, value: number, bound: { atMost: number } | { atLeast: number }];

export function formatReport(tables: readonly (readonly [title: string, table: string])[], targets: Target[]): string {
  const parts = tables.flatMap(([title, table]) => [...(title ? [title] : []), table, '']);
  return [...parts, 'Targets', ...targets.map((target) => formatTarget(...target))].join('\n');
}

/**
 * Formats `1234567.8` as `1,234,568`. Numbers below 100 have one decimal, and numbers below 10 have two. A figure that
 * was not measured becomes `?`.
 */
export function formatFigure(value: number): string {
  if (Number.isNaN(value)) return '?';
  const size = Math.abs(value);
  return value.toLocaleString('en-US', { maximumFractionDigits: size < 10 ? 2 : size < 100 ? 1 : 0 });
}

/** Formats a target, and whether the figure meets it. If the figure was not measured, the target is not met. */
export function formatTarget(name: string, value: number, target: { atMost: number } | { atLeast: number }): string {
  const [bound, isMet] =
    'atMost' in target
      ? [`at most ${formatFigure(target.atMost)}`, value <= target.atMost]
      : [`at least ${formatFigure(target.atLeast)}`, value >= target.atLeast];
  const shown = Math.abs(value) < 10 ? value.toFixed(2) : formatFigure(value);
  return `${isMet ? 'MET    ' : 'NOT MET'}  ${name}: ${shown} (target ${bound})`;
}
