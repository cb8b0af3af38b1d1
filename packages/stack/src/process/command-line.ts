import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';

/**
 * The whole command line of a running process, or null when there is none. A process id alone says nothing: it may have
 * been given to somebody else since it was written down.
 */
function commandLine(pid: number): string | null {
  if (!Number.isInteger(pid) || pid <= 0) return null;
  if (process.platform !== 'linux') {
    const { stdout, status } = spawnSync('ps', ['-ww', '-o', 'command=', '-p', String(pid)], { encoding: 'utf8' });
    return status === 0 ? stdout.trim() || null : null;
  }
  try {
    // A zombie has an empty one: it is over, only not yet buried.
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ').trim() || null;
  } catch {
    return null;
  }
}

/** True when the process runs and its command line contains `marker`, e.g. its data directory. */
export function isRunning(pid: number, marker: string): boolean {
  return commandLine(pid)?.includes(marker) === true;
}
