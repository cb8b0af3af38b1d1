import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { waitUntil } from '../testing/wait-until.ts';
import { isRunning } from './command-line.ts';

const owner = fileURLToPath(new URL('../testing/keeper-owner.ts', import.meta.url));

/** A process that owns a keeper and two servers in sessions of their own. */
async function startOwner(end: 'stays' | 'dismisses') {
  const child = spawn(process.execPath, ['--import', 'tsx', owner, end], { stdio: ['ignore', 'pipe', 'inherit'] });
  const [line] = (await once(child.stdout.setEncoding('utf8'), 'data')) as [string];
  const pids = JSON.parse(line) as { watched: number; forgotten: number };
  return { child, pids };
}

const isUp = (pid: number) => isRunning(pid, 'keeper-test');

test('ends what it watches over when its owner is killed, and nothing else', async () => {
  const { child, pids } = await startOwner('stays');
  expect([isUp(pids.watched), isUp(pids.forgotten)]).toEqual([true, true]);
  child.kill('SIGKILL');
  await waitUntil(() => !isUp(pids.watched), 'the watched server runs on although its owner is dead');
  expect(isUp(pids.forgotten)).toBe(true);
  process.kill(pids.forgotten, 'SIGKILL');
});

test('leaves everything alone once it is dismissed', async () => {
  const { child, pids } = await startOwner('dismisses');
  await once(child, 'exit');
  // The keeper is gone by the time another one of the same kind has done its work.
  const other = await startOwner('stays');
  other.child.kill('SIGKILL');
  await waitUntil(() => !isUp(other.pids.watched), 'the second keeper did nothing');
  expect([isUp(pids.watched), isUp(pids.forgotten)]).toEqual([true, true]);
  for (const pid of [pids.watched, pids.forgotten, other.pids.forgotten]) process.kill(pid, 'SIGKILL');
});
