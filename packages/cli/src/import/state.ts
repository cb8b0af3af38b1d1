// Stores an import's progress in a file, so that the import can be continued.

import { createHash } from 'node:crypto';
import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import { UsageError } from '../failures.ts';

export interface ImportState {
  version: 1;
  /** A hash of the host and the project API key. It does not reveal the key. */
  project: string;
  /** The position in the (decompressed) file, in bytes, before which everything has been imported. */
  offset: number;
  line: number;
  /**
   * SHA-256 of the file's content before the offset. It changes if the file was replaced, and stays the same if the
   * file only grew.
   */
  sha256: string;
  events: number;
  updatedAt: string;
}

export interface StateFile {
  path: string;
  /**
   * Reads the state. Returns null if the file does not exist, and `other` if the state belongs to a different host or
   * project.
   * @throws UsageError if the file is not a state file
   */
  load(): ImportState | 'other' | null;
  save(progress: Omit<ImportState, 'version' | 'project' | 'updatedAt'>): void;
}

export function createStateFile(path: string, target: { host: string; projectApiKey: string }): StateFile {
  const project = createHash('sha256').update(`${target.host} ${target.projectApiKey}`).digest('hex').slice(0, 16);
  return {
    path,
    load() {
      const state = parse(readIfThere(path), path);
      return state === null || state.project === project ? state : 'other';
    },
    save(progress) {
      const state: ImportState = { version: 1, project, ...progress, updatedAt: new Date().toISOString() };
      const draft = `${path}.tmp`;
      try {
        // Write to a temporary file and rename it, so that a crash does not damage the state that was saved before.
        writeFileSync(draft, `${JSON.stringify(state, null, 2)}\n`, { mode: 0o600 });
        renameSync(draft, path);
      } catch (error) {
        const { code } = error as NodeJS.ErrnoException;
        throw new UsageError(`--state: Could not write ${path} (${code}).`);
      }
    },
  };
}

function readIfThere(path: string): string | null {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw new UsageError(`--state: Could not read ${path}.`);
  }
}

function parse(text: string | null, path: string): ImportState | null {
  if (text === null) return null;
  try {
    const state = JSON.parse(text) as ImportState;
    if (state.version === 1 && Number.isSafeInteger(state.offset) && typeof state.sha256 === 'string') return state;
  } catch {
    // Ignore the parse error, because the error below reports invalid JSON.
  }
  throw new UsageError(`--state: ${path} is not an import state file. Delete it, or pass another path.`);
}
