/** Started by keeper.test.ts: owns a keeper and two servers, prints their process ids, then stays or dismisses it. */
import { spawn } from 'node:child_process';
import { createKeeper } from '../process/keeper.ts';

const startServer = () => {
  const child = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)', 'keeper-test'], {
    detached: true,
    stdio: 'ignore',
  });
  child.unref();
  return Number(child.pid);
};
const keeper = createKeeper();
const watched = startServer();
const forgotten = startServer();
keeper.watch(forgotten, 'SIGTERM');
keeper.watch(watched, 'SIGTERM');
keeper.forget(forgotten);
if (process.argv[2] === 'dismisses') keeper.dismiss();
else setInterval(() => {}, 1000);
console.log(JSON.stringify({ watched, forgotten }));
