// Loaded into every child: when its parent is gone, however that happened, it drains and ends as on SIGTERM. Ten seconds
// later it ends anyway. Grandchildren inherit the option that loads this; they have parents of their own to look after
// them.
if (process.ppid === Number(process.env.MILLRACE_PARENT)) {
  process.once('disconnect', () => {
    setTimeout(() => process.exit(1), 10_000).unref();
    process.kill(process.pid, 'SIGTERM');
  });
  // Listening for that alone must not keep a program alive that has ended.
  process.channel?.unref();
}
