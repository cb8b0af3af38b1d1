import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../..', import.meta.url));

/**
 * Returns the repository's files in the given folders, relative to the repository root. Includes files that are not
 * committed yet.
 */
export function listTrackedFiles(...folders: string[]): string[] {
  const words = ['ls-files', '-z', '--cached', '--others', '--exclude-standard', '--', ...folders];
  const output = execFileSync('git', words, { cwd: root, encoding: 'utf8', maxBuffer: 100_000_000 });
  return [...new Set(output.split('\0').filter(Boolean))].sort();
}
