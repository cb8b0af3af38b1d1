import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isRunning, stopRecordedProcess, writeProcessRecord } from './server-process.ts';

let directory: string;
let file: string;
const children: ChildProcess[] = [];

/** Starts a process with `marker` in its command line. If `isStubborn` is true, the process ignores SIGTERM. */
async function start(marker: string, { isStubborn = false } = {}): Promise<{ child: ChildProcess; pid: number }> {
  const program = `${isStubborn ? "process.on('SIGTERM', () => {});" : ''} process.stdout.write('up'); setInterval(() => {}, 1000);`;
  const child = spawn(process.execPath, ['-e', program, marker], { stdio: ['ignore', 'pipe', 'inherit'] });
  children.push(child);
  await once(child.stdout, 'data');
  return { child, pid: Number(child.pid) };
}

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'millrace-record-'));
  file = join(directory, 'process.json');
});

afterEach(() => {
  for (const child of children.splice(0)) child.kill('SIGKILL');
  rmSync(directory, { recursive: true });
});

describe('stopRecordedProcess', () => {
  test.each([{ isStubborn: false }, { isStubborn: true }])(
    'ends a process that an earlier run left running: %p',
    async (kind) => {
      const { child, pid } = await start('left-behind', kind);
      writeProcessRecord(file, { pid, marker: 'left-behind' });
      const ended = once(child, 'exit');
      expect(await stopRecordedProcess(file, 'SIGTERM', 300)).toBe(true);
      await ended;
      expect(existsSync(file)).toBe(false);
    },
  );

  test('does not end a different process that has the recorded process ID', async () => {
    const { pid } = await start('stranger');
    writeProcessRecord(file, { pid, marker: 'left-behind' });
    expect(await stopRecordedProcess(file, 'SIGTERM', 300)).toBe(false);
    expect(isRunning(pid, 'stranger')).toBe(true);
    expect(existsSync(file)).toBe(false);
  });

  test.each(['', '{', '{"pid":"12","marker":"x"}', '{"pid":1,"marker":""}'])(
    'deletes an invalid record with the content %p',
    async (text) => {
      writeFileSync(file, text);
      expect(await stopRecordedProcess(file, 'SIGTERM', 300)).toBe(false);
      expect(existsSync(file)).toBe(false);
    },
  );
});
