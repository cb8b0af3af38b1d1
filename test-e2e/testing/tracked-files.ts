import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../..', import.meta.url));

/**
 * Returns the files of the repository in the given folders as paths relative to its root. Includes files that have not
 * been committed yet.
 */
export function trackedFiles(...folders: string[]): string[] {
  const words = ['ls-files', '-z', '--cached', '--others', '--exclude-standard', '--', ...folders];
  const output = execFileSync('git', words, { cwd: root, encoding: 'utf8', maxBuffer: 100_000_000 });
  return [...new Set(output.split('\0').filter(Boolean))].sort();
}
