import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { eventually } from '@millrace/testing';
import { isRunning } from './server-process.ts';

const owner = fileURLToPath(new URL('../testing/reaper-owner.ts', import.meta.url));

/** A process that owns a reaper and two servers in sessions of their own. */
async function startOwner(end: 'stays' | 'dismisses') {
  const child = spawn(process.execPath, ['--import', 'tsx', owner, end], { stdio: ['ignore', 'pipe', 'inherit'] });
  const [line] = (await once(child.stdout.setEncoding('utf8'), 'data')) as [string];
  const pids = JSON.parse(line) as { watched: number; forgotten: number };
  return { child, pids };
}

const isUp = (pid: number) => isRunning(pid, 'reaper-test');

test('ends what it watches over when its owner is killed, and nothing else', async () => {
  const { child, pids } = await startOwner('stays');
  expect([isUp(pids.watched), isUp(pids.forgotten)]).toEqual([true, true]);
  child.kill('SIGKILL');
  await eventually(() => !isUp(pids.watched), { what: 'the end of the watched server' });
  expect(isUp(pids.forgotten)).toBe(true);
  process.kill(pids.forgotten, 'SIGKILL');
});

test('leaves everything alone once it is dismissed', async () => {
  const { child, pids } = await startOwner('dismisses');
  await once(child, 'exit');
  // The reaper is gone by the time another one of the same kind has done its work.
  const other = await startOwner('stays');
  other.child.kill('SIGKILL');
  await eventually(() => !isUp(other.pids.watched), { what: 'the end of what the second reaper watched' });
  expect([isUp(pids.watched), isUp(pids.forgotten)]).toEqual([true, true]);
  for (const pid of [pids.watched, pids.forgotten, other.pids.forgotten]) process.kill(pid, 'SIGKILL');
});
