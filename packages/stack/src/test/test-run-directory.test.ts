import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, rmSync, utimesSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { writeProcessRecord } from '../servers/server-process.ts';
import { createTestRunDirectory, removeDeadTestRuns, removeTestRunDirectory } from './test-servers.ts';

let parent: string;
const children: ChildProcess[] = [];

async function startProcess(commandLine: string): Promise<ChildProcess> {
  const child = spawn(process.execPath, [
    '-e',
    "process.stdout.write('up'); setInterval(() => {}, 1000);",
    commandLine,
  ]);
  children.push(child);
  await once(child.stdout, 'data');
  return child;
}

beforeEach(() => {
  parent = mkdtempSync(join(tmpdir(), 'millrace-runs-'));
});
afterEach(() => {
  for (const child of children.splice(0)) child.kill('SIGKILL');
  rmSync(parent, { recursive: true });
});

test('a test run ends the servers of a killed earlier run, and removes its files', async () => {
  const directory = createTestRunDirectory(parent);
  writeProcessRecord(join(directory, 'run.json'), { pid: 0, marker: 'bin/test.mjs' });
  const broker = await startProcess(join(directory, 'kafka/server.properties'));
  mkdirSync(join(directory, 'kafka'));
  writeProcessRecord(join(directory, 'kafka/process.json'), { pid: Number(broker.pid), marker: directory });
  const ended = once(broker, 'exit');
  expect(await removeDeadTestRuns(parent)).toBe(1);
  await ended;
  expect(existsSync(directory)).toBe(false);
});

test('a test run does not change the files of a run in progress', async () => {
  const directory = createTestRunDirectory(parent);
  const run = await startProcess('packages/stack/bin/test.mjs');
  writeProcessRecord(join(directory, 'run.json'), { pid: Number(run.pid), marker: 'bin/test.mjs' });
  expect(await removeDeadTestRuns(parent)).toBe(0);
  expect(existsSync(directory)).toBe(true);
  await removeTestRunDirectory(directory);
  expect(existsSync(directory)).toBe(false);
});

test('a test run removes an old directory without a record, but keeps a new one, whose run may be starting', async () => {
  const young = join(parent, 'run-young');
  const old = join(parent, 'run-old');
  mkdirSync(young);
  mkdirSync(old);
  utimesSync(old, new Date(0), new Date(0));
  expect(await removeDeadTestRuns(parent)).toBe(1);
  expect([existsSync(young), existsSync(old)]).toEqual([true, false]);
});

test('a test run removes nothing if no tests have run before', async () => {
  expect(await removeDeadTestRuns(join(parent, 'none'))).toBe(0);
});
