import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { eventually, typeScriptProcess } from '@millrace/testing';
import { isRunning } from './server-process.ts';

const owner = fileURLToPath(new URL('../testing/reaper-owner.ts', import.meta.url));

/** Starts a process that owns a reaper and two servers, each in its own session. */
async function startOwner(end: 'stays' | 'dismisses') {
  const child = spawn(process.execPath, [...typeScriptProcess.options, owner, end], {
    env: typeScriptProcess.env,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const [line] = (await once(child.stdout.setEncoding('utf8'), 'data')) as [string];
  const pids = JSON.parse(line) as { watched: number; forgotten: number };
  return { child, pids };
}

const isUp = (pid: number) => isRunning(pid, 'reaper-test');

test('when its owner is killed, the reaper ends only the servers that it watches', async () => {
  const { child, pids } = await startOwner('stays');
  expect([isUp(pids.watched), isUp(pids.forgotten)]).toEqual([true, true]);
  child.kill('SIGKILL');
  await eventually(() => !isUp(pids.watched), { what: 'the end of the watched server' });
  expect(isUp(pids.forgotten)).toBe(true);
  process.kill(pids.forgotten, 'SIGKILL');
});

test('the reaper does not end any server after its owner has dismissed it', async () => {
  const { child, pids } = await startOwner('dismisses');
  await once(child, 'exit');
  // Wait for a second reaper. When it has finished, the first one would have finished too.
  const other = await startOwner('stays');
  other.child.kill('SIGKILL');
  await eventually(() => !isUp(other.pids.watched), { what: 'the end of what the second reaper watched' });
  expect([isUp(pids.watched), isUp(pids.forgotten)]).toEqual([true, true]);
  for (const pid of [pids.watched, pids.forgotten, other.pids.forgotten]) process.kill(pid, 'SIGKILL');
});
