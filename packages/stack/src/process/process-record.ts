// Processes that a later run has to find: each is noted with a part of its command line, since an id alone may belong to
// somebody else by then.
import { spawnSync } from 'node:child_process';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';

/** A process that was started and should be found again by a later run if this one dies. */
export interface ProcessRecord {
  pid: number;
  /** A part of its command line that no other process has. */
  marker: string;
}

export function writeProcessRecord(file: string, record: ProcessRecord): void {
  writeFileSync(file, JSON.stringify(record), { mode: 0o600 });
}

/** @returns null when there is no such file, or none that can be understood. */
export function readProcessRecord(file: string): ProcessRecord | null {
  try {
    const { pid, marker } = JSON.parse(readFileSync(file, 'utf8')) as Partial<ProcessRecord>;
    return typeof pid === 'number' && typeof marker === 'string' && marker !== '' ? { pid, marker } : null;
  } catch {
    return null;
  }
}

/** Stops the process that an earlier run recorded, if it still runs, and forgets it. */
export async function stopRecordedProcess(file: string, signal: NodeJS.Signals, patienceMs = 10_000): Promise<boolean> {
  const record = readProcessRecord(file);
  const wasRunning = record !== null && (await endProcess(record, signal, patienceMs));
  rmSync(file, { force: true });
  return wasRunning;
}

/** Sends `signal`, waits, and sends SIGKILL when patience is over. @returns whether it was running at all. */
export async function endProcess(record: ProcessRecord, signal: NodeJS.Signals, patienceMs: number): Promise<boolean> {
  const { pid, marker } = record;
  if (!isRunning(pid, marker)) return false;
  send(pid, signal);
  const deadline = Date.now() + patienceMs;
  while (isRunning(pid, marker)) {
    if (Date.now() > deadline) send(pid, 'SIGKILL');
    await sleep(50);
  }
  return true;
}

function send(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch (error) {
    // It ended by itself in between.
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}

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
