// Measures the CPU time of programs and of PostgreSQL during a benchmark.

import { readFile } from 'node:fs/promises';
import type { BenchDatabase } from './bench-database.ts';
import type { MeasuredProcess } from './measured-process.ts';

export async function measureCpu<Result>(
  processes: readonly MeasuredProcess[],
  database: BenchDatabase,
  work: () => Promise<Result>,
) {
  const read = async () => ({
    usages: await Promise.all(processes.map((one) => one.usage())),
    database: await readDatabaseCpu(database),
  });
  const before = await read();
  const startedAt = performance.now();
  const result = await work();
  const seconds = (performance.now() - startedAt) / 1000;
  const after = await read();
  return {
    result,
    seconds,
    cpuMicros: after.usages.map(({ cpuMicros }, at) => cpuMicros - (before.usages[at]?.cpuMicros ?? 0)),
    /** PostgreSQL's CPU time in microseconds, or NaN if unknown. */
    databaseMicros: computeDatabaseCpu(before.database, after.database),
    /** Largest resident set size of each process since it started, in bytes. */
    maxRssBytes: after.usages.map(({ maxRssBytes }) => maxRssBytes),
  };
}

/** CPU time in microseconds of each PostgreSQL process that serves the measured programs, by process ID. */
type DatabaseCpu = ReadonlyMap<number, number>;

/** Linux counts CPU time in ticks of a hundredth of a second. */
const microsPerTick = 10_000;

/**
 * Reads the CPU time of the PostgreSQL processes for this database, except those of the benchmark's own connections.
 * Returns null if it cannot be read, because the server runs on a different machine or in a container, or the platform
 * is not Linux.
 */
async function readDatabaseCpu(database: BenchDatabase): Promise<DatabaseCpu | null> {
  const backends = await database.query<{ pid: number }>(
    `SELECT pid FROM pg_stat_activity
      WHERE datname = current_database() AND application_name <> current_setting('application_name')`,
  );
  const used = new Map<number, number>();
  for (const { pid } of backends) {
    const micros = parseProcessStat(await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => ''));
    if (micros === null) return null;
    used.set(pid, micros);
  }
  return used;
}

/**
 * Reads the CPU time in microseconds from the text of `/proc/<pid>/stat`. Returns null if the process is not
 * PostgreSQL.
 */
export function parseProcessStat(stat: string): number | null {
  const end = stat.lastIndexOf(')');
  if (!stat.slice(0, end).includes('(postgres')) return null;
  // The fields after the process name are the state, ten others, the user time and the system time.
  const fields = stat.slice(end + 2).split(' ');
  return (Number(fields[11]) + Number(fields[12])) * microsPerTick;
}

/**
 * Returns the CPU time between two readings. Excludes processes that ended in between. Returns NaN if a reading is
 * null.
 */
export function computeDatabaseCpu(before: DatabaseCpu | null, after: DatabaseCpu | null): number {
  if (before === null || after === null) return Number.NaN;
  return [...after].reduce((sum, [pid, micros]) => sum + micros - (before.get(pid) ?? 0), 0);
}
