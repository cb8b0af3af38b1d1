import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

const run = promisify(execFile);

export async function findMissingPrograms(names: readonly string[]): Promise<string[]> {
  const isThere = await Promise.all(
    names.map((name) =>
      run('sh', ['-c', 'command -v "$1"', 'sh', name]).then(
        () => true,
        () => false,
      ),
    ),
  );
  return names.filter((_, index) => !isThere[index]);
}
