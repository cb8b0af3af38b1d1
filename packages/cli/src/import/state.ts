import { createHash } from 'node:crypto';
import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import { UsageError } from '../failures.ts';

/** How far an import has come, kept beside the file so that it can be continued. */
export interface ImportState {
  version: 1;
  /** Tells one project of one host from another without giving its key away. */
  project: string;
  /** Everything before this byte of the (unpacked) file is imported. */
  offset: number;
  /** The last line before it. */
  line: number;
  /** SHA-256 of everything before it: another file under the same name is noticed, one that has grown is continued. */
  sha256: string;
  /** How many events the host has accepted. */
  events: number;
  updatedAt: string;
}

export interface StateFile {
  path: string;
  /** Null when there is none; `other` when it is of another host or project. @throws UsageError when it cannot be understood. */
  load(): ImportState | 'other' | null;
  save(progress: Omit<ImportState, 'version' | 'project' | 'updatedAt'>): void;
}

export function stateFile(path: string, target: { host: string; projectApiKey: string }): StateFile {
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
        // A crash while writing leaves the state before.
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
    // Said below.
  }
  throw new UsageError(`--state: ${path} is not an import state file. Delete it, or pass another path.`);
}
