import { spawnSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { buildOnce } from './build-once.ts';

let name: string;
let builds: number;
beforeEach(() => {
  name = `build-once-test-${randomUUID()}`;
  builds = 0;
});

async function build(directory: string): Promise<void> {
  builds += 1;
  await delay(20);
  await writeFile(join(directory, 'content'), `build ${builds}`);
}

const contentOf = (directory: string) => readFile(join(directory, 'content'), 'utf8');

test('builds a directory once for simultaneous callers', async () => {
  const built = await Promise.all([1, 2, 3].map(() => buildOnce(name, build)));
  for (const { directory } of built) expect(await contentOf(directory)).toBe('build 1');
  expect(builds).toBe(1);
});

test('builds a directory again after a failed build', async () => {
  await expect(buildOnce(name, () => Promise.reject(new Error('failed')))).rejects.toThrow('failed');
  expect(await contentOf((await buildOnce(name, build)).directory)).toBe('build 1');
});

test('ignores the lock of a terminated process', async () => {
  const { directory } = await buildOnce(name, build);
  const { pid } = spawnSync(process.execPath, ['--version']);
  const other = `${directory}-other`;
  await writeFile(`${other}.lock`, String(pid));
  expect(await contentOf((await buildOnce(`${name}-other`, build)).directory)).toBe('build 2');
  expect(existsSync(`${other}.lock`)).toBe(false);
});
