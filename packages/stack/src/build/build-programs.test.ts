import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { serviceFile, writeEntries } from './build.ts';

const directory = mkdtempSync(join(tmpdir(), 'millrace-entries-'));
const mayBeProcessOne = spawnSync('unshare', ['--pid', '--fork', 'true']).status === 0;

beforeAll(async () => {
  const slow = `process.stdout.write('reading'); await new Promise((resolve) => setTimeout(resolve, 600_000));`;
  writeFileSync(join(directory, `${serviceFile('slow')}.mjs`), slow);
  await writeEntries(directory, ['slow']);
});
afterAll(() => rmSync(directory, { recursive: true, force: true }));

const program = [process.execPath, join(directory, 'slow.mjs')] as const;

async function untilReading({ stdout }: ChildProcess): Promise<void> {
  if (stdout !== null) await once(stdout, 'data');
}

test('exits immediately on SIGTERM while a service is still loading', async () => {
  const child = spawn(program[0], program.slice(1));
  await untilReading(child);
  child.kill('SIGTERM');
  expect(await once(child, 'exit')).toEqual([0, null]);
});

/** The kernel delivers a signal to process 1 only if the process has a handler for the signal. */
(mayBeProcessOne ? test : test.skip)(
  'exits immediately on SIGTERM while a service is loading as process 1 of a container',
  async () => {
    const child = spawn('unshare', ['--pid', '--fork', '--kill-child', ...program]);
    await untilReading(child);
    const [first = ''] = readFileSync(`/proc/${child.pid}/task/${child.pid}/children`, 'utf8').split(' ');
    process.kill(Number(first), 'SIGTERM');
    expect(await once(child, 'exit')).toEqual([0, null]);
  },
);
