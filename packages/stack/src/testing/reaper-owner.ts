/**
 * A program that reaper.test.ts starts. It owns a reaper and two servers, prints their process IDs, and then keeps or
 * dismisses the reaper.
 */
import { spawn } from 'node:child_process';
import { createReaper } from '../servers/server-process.ts';

const startServer = () => {
  const child = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)', 'reaper-test'], {
    detached: true,
    stdio: 'ignore',
  });
  child.unref();
  return Number(child.pid);
};
const reaper = createReaper();
const watched = startServer();
const forgotten = startServer();
reaper.watch(forgotten, 'SIGTERM');
reaper.watch(watched, 'SIGTERM');
reaper.forget(forgotten);
if (process.argv[2] === 'dismisses') reaper.dismiss();
else setInterval(() => {}, 1000);
console.log(JSON.stringify({ watched, forgotten }));
