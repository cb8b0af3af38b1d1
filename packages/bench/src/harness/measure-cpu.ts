// Measures the CPU time of programs and of PostgreSQL during a benchmark.

import { readFile } from 'node:fs/promises';
import type { BenchDatabase } from './bench-database.ts';
import type { MeasuredProcess } from './measured-process.ts';

/** Measures the CPU time that processes and PostgreSQL use while `work` runs. */
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
    /** CPU time of each process, in microseconds. */
    cpuMicros: after.usages.map(({ cpuMicros }, at) => cpuMicros - (before.usages[at]?.cpuMicros ?? 0)),
    /** CPU time of PostgreSQL in microseconds, or NaN if it is not visible. */
    databaseMicros: computeDatabaseCpu(before.database, after.database),
    /** Largest resident set size of each process since it started, in bytes. */
    maxRssBytes: after.usages.map(({ maxRssBytes }) => maxRssBytes),
  };
}

/** CPU time of each PostgreSQL process that serves the measured programs, in microseconds. The keys are process IDs. */
type DatabaseCpu = ReadonlyMap<number, number>;

/** Linux counts CPU time in hundredths of a second. */
const microsPerTick = 10_000;

/**
 * Reads the CPU time of the server processes for this database, except those of the benchmark's own connections.
 * Returns null if the processes are not visible, because the server runs on another machine or in a container, or the
 * platform is not Linux.
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
 * Reads the CPU time from a line of `/proc/<pid>/stat`. Returns null if the line does not describe a PostgreSQL
 * process.
 */
export function parseProcessStat(stat: string): number | null {
  const end = stat.lastIndexOf(')');
  if (!stat.slice(0, end).includes('(postgres')) return null;
  // After the name, the line contains the state, ten other fields, the user time and the system time.
  const fields = stat.slice(end + 2).split(' ');
  return (Number(fields[11]) + Number(fields[12])) * microsPerTick;
}

/**
 * Returns the CPU time between two readings. Excludes processes that ended in between. Returns NaN if one of the
 * readings is null.
 */
export function computeDatabaseCpu(before: DatabaseCpu | null, after: DatabaseCpu | null): number {
  if (before === null || after === null) return Number.NaN;
  return [...after].reduce((sum, [pid, micros]) => sum + micros - (before.get(pid) ?? 0), 0);
}
