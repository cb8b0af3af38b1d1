import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../..', import.meta.url));

/** The files of this repository below the folders, as paths from its root, whether they are committed yet or not. */
export function trackedFiles(...folders: string[]): string[] {
  const words = ['ls-files', '-z', '--cached', '--others', '--exclude-standard', '--', ...folders];
  const output = execFileSync('git', words, { cwd: root, encoding: 'utf8', maxBuffer: 100_000_000 });
  return [...new Set(output.split('\0').filter(Boolean))].sort();
}
