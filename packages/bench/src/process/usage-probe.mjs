// Loaded into a measured process before its program (`--import`), the same on both sides of a comparison: answers the
// question "what have you used so far" with figures of the whole process, threads included.
process.on('message', (message) => {
  if (message?.type !== 'usage') return;
  const { user, system } = process.cpuUsage();
  const { maxRSS } = process.resourceUsage();
  process.send({ type: 'usage', cpuMicros: user + system, maxRssBytes: maxRSS * 1024 });
});
// A benchmark that was cut short leaves nothing running.
process.on('disconnect', () => process.exit(1));
