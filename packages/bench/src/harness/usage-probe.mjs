import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

// `--import` loads this file into a measured process before the program, for both sides of a comparison. The file
// reports the resource usage of the whole process, including its threads.
process.on('message', (message) => {
  if (message?.type === 'memory') process.send({ type: 'memory', liveBytes: liveBytes() });
  if (message?.type !== 'usage') return;
  const { user, system } = process.cpuUsage();
  const { maxRSS } = process.resourceUsage();
  process.send({ type: 'usage', cpuMicros: user + system, maxRssBytes: maxRSS * 1024 });
});

/** Returns the memory in use after garbage collection, in bytes. */
function liveBytes() {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc');
  for (let time = 0; time < 3; time++) collect();
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}
