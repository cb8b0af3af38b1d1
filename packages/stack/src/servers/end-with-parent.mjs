// Loaded into every child process. When the parent ends for any reason, the child shuts down as on SIGTERM, and exits
// after at most ten seconds. Grandchildren inherit the option that loads this file, but have a different parent.
if (process.ppid === Number(process.env.MILLRACE_PARENT)) {
  process.once('disconnect', () => {
    setTimeout(() => process.exit(1), 10_000).unref();
    process.kill(process.pid, 'SIGTERM');
  });
  // This channel must not keep a finished program alive.
  process.channel?.unref();
}
