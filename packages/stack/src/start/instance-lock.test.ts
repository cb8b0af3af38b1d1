import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { SetupProblem } from '../command.ts';
import { lockInstance } from './instance-lock.ts';

let directory: string;
let other: ChildProcess | undefined;

async function startOther(commandLine: string): Promise<number> {
  other = spawn(process.execPath, ['-e', "process.stdout.write('up'); setInterval(() => {}, 1000);", commandLine]);
  await once(other.stdout as NonNullable<typeof other.stdout>, 'data');
  return Number(other.pid);
}

const hold = (pid: number) =>
  writeFileSync(join(directory, 'start.lock'), JSON.stringify({ pid, marker: 'bin/start.mjs' }));

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'millrace-lock-'));
});
afterEach(() => {
  other?.kill('SIGKILL');
  rmSync(directory, { recursive: true });
});

test("throws if another system uses the directory, and names the system's process", async () => {
  const pid = await startOther('packages/stack/bin/start.mjs');
  hold(pid);
  expect(() => lockInstance(directory)).toThrow(SetupProblem);
  expect(() => lockInstance(directory)).toThrow(`process ${pid}`);
  expect(readdirSync(directory)).toEqual(['start.lock']);
});

test.each(['has ended', 'is another program'])('takes over the lock of a process that %s', async (kind) => {
  const pid = await startOther('something-else');
  if (kind === 'has ended') {
    const ended = once(other as ChildProcess, 'exit');
    other?.kill('SIGKILL');
    await ended;
  }
  hold(pid);
  const release = lockInstance(directory);
  expect(readdirSync(directory)).toEqual(['start.lock']);
  release();
  expect(readdirSync(directory)).toEqual([]);
});
