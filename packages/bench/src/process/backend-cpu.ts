import { readFile } from 'node:fs/promises';
import type { BenchDatabase } from '../topic/bench-project.ts';

/** CPU time so far of each PostgreSQL process that serves the measured ones, microseconds by process id. */
export type BackendCpu = ReadonlyMap<number, number>;

/** Linux counts in hundredths of a second. */
const microsPerTick = 10_000;

/**
 * What the server's processes for this database have used, the benchmark's own connections left out. Null where it
 * cannot be seen: the server is elsewhere, in a container, or this is no Linux.
 */
export async function readBackendCpu(database: BenchDatabase): Promise<BackendCpu | null> {
  const backends = await database.query<{ pid: number }>(
    `SELECT pid FROM pg_stat_activity
      WHERE datname = current_database() AND application_name <> current_setting('application_name')`,
  );
  const used = new Map<number, number>();
  for (const { pid } of backends) {
    const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '');
    const micros = parseProcessStat(stat);
    if (micros === null) return null;
    used.set(pid, micros);
  }
  return used;
}

/** CPU time of a line of `/proc/<pid>/stat`, or null when it is not one of a PostgreSQL process. */
export function parseProcessStat(stat: string): number | null {
  const end = stat.lastIndexOf(')');
  if (!stat.slice(0, end).includes('(postgres')) return null;
  // Behind the name: state, ten other figures, then user and system time.
  const fields = stat.slice(end + 2).split(' ');
  return (Number(fields[11]) + Number(fields[12])) * microsPerTick;
}

/** Used between two looks; what a process used that ended in between is not counted. NaN when it could not be seen. */
export function backendCpuBetween(before: BackendCpu | null, after: BackendCpu | null): number {
  if (before === null || after === null) return Number.NaN;
  return [...after].reduce((sum, [pid, micros]) => sum + micros - (before.get(pid) ?? 0), 0);
}
