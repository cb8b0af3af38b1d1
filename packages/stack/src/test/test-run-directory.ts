import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { removePostgresFiles } from '../postgres/postgres-files.ts';
import { isRunning, readProcessRecord, stopRecordedProcess, writeProcessRecord } from '../process/process-record.ts';

/** A part of this command's line; see package.json. */
const marker = 'bin/test.mjs';

/** How the servers of a run are asked to end, and under which name they keep their files. */
const servers: Record<string, NodeJS.Signals> = { postgres: 'SIGINT', kafka: 'SIGTERM', redis: 'SIGTERM' };

/** A directory of this run's own, for servers that live as long as the run. */
export function createTestRunDirectory(parent: string): string {
  mkdirSync(parent, { recursive: true });
  const directory = mkdtempSync(join(parent, 'run-'));
  writeProcessRecord(recordFile(directory), { pid: process.pid, marker });
  return directory;
}

/** Ends the servers of runs that were killed and removes their files. Runs still going on are left alone. */
export async function removeDeadTestRuns(parent: string): Promise<number> {
  if (!existsSync(parent)) return 0;
  let removed = 0;
  for (const name of readdirSync(parent)) {
    const directory = join(parent, name);
    if (isAlive(directory)) continue;
    await removeTestRunDirectory(directory);
    removed += 1;
  }
  return removed;
}

export async function removeTestRunDirectory(directory: string): Promise<void> {
  for (const [name, signal] of Object.entries(servers)) {
    await stopRecordedProcess(join(directory, name, 'process.json'), signal);
  }
  removePostgresFiles(join(directory, 'postgres'));
  rmSync(directory, { recursive: true, force: true });
}

function isAlive(directory: string): boolean {
  const record = readProcessRecord(recordFile(directory));
  if (record) return isRunning(record.pid, record.marker);
  // Without a record it is being created right now, or was when its run was killed.
  return Date.now() - statSync(directory).mtimeMs < 60_000;
}

const recordFile = (directory: string) => join(directory, 'run.json');
