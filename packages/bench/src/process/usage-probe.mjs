import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

// Loaded into a measured process before its program (`--import`), the same on both sides of a comparison: answers the
// question "what have you used so far" with figures of the whole process, threads included.
process.on('message', (message) => {
  if (message?.type === 'memory') process.send({ type: 'memory', ...keptMemory() });
  if (message?.type !== 'usage') return;
  const { user, system } = process.cpuUsage();
  const { maxRSS } = process.resourceUsage();
  process.send({ type: 'usage', cpuMicros: user + system, maxRssBytes: maxRSS * 1024 });
});

/** What is left in memory when everything that is not needed any more has been collected. */
function keptMemory() {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc');
  for (let time = 0; time < 3; time++) collect();
  const { heapUsed, external, rss } = process.memoryUsage();
  return { keptBytes: heapUsed + external, rssBytes: rss };
}
