import { cpus, loadavg, totalmem } from 'node:os';
import type { BenchDatabase } from '../topic/bench-project.ts';
import type { BenchTopics } from '../topic/bench-topics.ts';

/** The middle value, or the mean of the two middle ones; NaN of nothing. */
export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = Math.floor(sorted.length / 2);
  const upper = sorted[middle] ?? Number.NaN;
  return sorted.length % 2 === 1 ? upper : ((sorted[middle - 1] ?? Number.NaN) + upper) / 2;
}

/** The smallest value that `share` (0..1) of all values do not exceed (nearest rank); NaN of nothing. */
export function percentile(values: readonly number[], share: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)] ?? Number.NaN;
}

/** Rows as aligned columns: the first to the left, the others to the right. */
export function textTable(rows: readonly (readonly string[])[]): string {
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => (row[column] ?? '').length)));
  return rows
    .map((row) =>
      row
        .map((cell, column) => (column === 0 ? cell.padEnd(widths[column] ?? 0) : cell.padStart(widths[column] ?? 0)))
        .join('  '),
    )
    .join('\n');
}

/** What is told of runs: a figure, of which several runs have a median, or words. */
export type Columns<Run> = Record<string, (run: Run) => number | string>;

/** A row for each run. */
export function everyRun<Run>(runs: readonly Run[], nameOf: (run: Run) => string, columns: Columns<Run>): string {
  return textTable([
    ['', ...Object.keys(columns)],
    ...runs.map((run) => [nameOf(run), ...figuresOf([run], columns).map(shown)]),
  ]);
}

/** A row for each name, in the order of their first runs, with its medians; then rows of the first over the others. */
export function mediansByName<Run>(
  runs: readonly Run[],
  nameOf: (run: Run) => string,
  columns: Columns<Run>,
  over: readonly (readonly [name: string, other: string])[] = [],
): string {
  const of = (name: string) =>
    figuresOf(
      runs.filter((run) => nameOf(run) === name),
      columns,
    );
  return textTable([
    ['', ...Object.keys(columns)],
    ...[...new Set(runs.map(nameOf))].map((name) => [name, ...of(name).map(shown)]),
    ...over.map(([name, other]) => {
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

const shown = (value: number | string) => (typeof value === 'string' ? value : readable(value));

function ratio(value: number | string, other: number | string = Number.NaN): string {
  return typeof value === 'string' ? '' : readable(value / Number(other));
}

/** Answers other than the expected one, by status. */
export function statusesIn(counts: Record<string, number>): string {
  const listed = Object.entries(counts).map(([status, count]) => `${status}: ${count}`);
  return listed.join(', ') || 'none';
}

/** One run of requests against one server. */
export interface RequestRun {
  requestsPerSecond: number;
  acknowledged: number;
  /** Requests answered otherwise, by status; 0 = the connection broke. */
  otherStatuses: Record<string, number>;
  /** Of acknowledged requests, milliseconds. */
  p50Ms: number;
  p99Ms: number;
  /** CPU of the server for each acknowledged request. */
  cpuMicros: number;
  /** CPU of PostgreSQL's processes; NaN where it cannot be seen. */
  databaseMicros: number;
  /** Since the server's start. */
  maxRssBytes: number;
}

/** A figure with what it should be. */
export type Target = [name: string, value: number, bound: { atMost: number } | { atLeast: number }];

/** Tables, each below its title, then the targets and whether they are met. */
export function report(tables: readonly (readonly [title: string, table: string])[], targets: Target[]): string {
  const parts = tables.flatMap(([title, table]) => [...(title ? [title] : []), table, '']);
  return [...parts, 'Targets', ...targets.map((target) => verdict(...target))].join('\n');
}

/** `1234567.8` → `1,234,568`; one decimal below 100, two below 10; `?` for what could not be measured. */
export function readable(value: number): string {
  if (Number.isNaN(value)) return '?';
  const size = Math.abs(value);
  return value.toLocaleString('en-US', { maximumFractionDigits: size < 10 ? 2 : size < 100 ? 1 : 0 });
}

/** A target with its verdict; never prints "met" for a figure that could not be measured. */
export function verdict(name: string, value: number, target: { atMost: number } | { atLeast: number }): string {
  const [bound, isMet] =
    'atMost' in target
      ? [`at most ${readable(target.atMost)}`, value <= target.atMost]
      : [`at least ${readable(target.atLeast)}`, value >= target.atLeast];
  const shown = Math.abs(value) < 10 ? value.toFixed(2) : readable(value);
  return `${isMet ? 'MET    ' : 'NOT MET'}  ${name}: ${shown} (target ${bound})`;
}

/** What a reader must know to compare the figures with their own. */
export async function environmentFacts(topics: BenchTopics, database: BenchDatabase): Promise<string[]> {
  const kafka = `kafka       ${await topics.describeBroker()}, on the same machine unless KAFKA_BROKERS is set`;
  return [...processorFacts(), kafka, ...(await serverFacts(database))];
}

export function processorFacts(): string[] {
  const processors = cpus();
  return [
    `processor   ${processors[0]?.model.trim() ?? 'unknown'}, ${processors.length} core(s), ${Math.round(totalmem() / 2 ** 30)} GB`,
    `load        ${loadavg()[0]?.toFixed(1)} before the start (measurements on a busy machine are unreliable; CPU per event is less affected)`,
    `node        ${process.version}`,
  ];
}

/** Memory and distance of checkpoints decide what a large store costs: pages out of memory, and whole pages in the log. */
const telling = ['fsync', 'synchronous_commit', 'full_page_writes', 'shared_buffers', 'max_wal_size'];

export async function serverFacts(database: BenchDatabase): Promise<string[]> {
  const settings = await database.query<{ name: string; value: string }>(
    'SELECT name, current_setting(name) AS value FROM unnest($1::text[]) AS name',
    [['server_version', ...telling]],
  );
  const settingOf = (sought: string) => settings.find(({ name }) => name === sought)?.value;
  const told = telling.map((name) => `${name} ${settingOf(name)}`).join(', ');
  return [`postgresql  ${settingOf('server_version')} (${told})`];
}
