// This file is loaded into every child process. When the parent ends for any reason, the child shuts down as after
// SIGTERM, and exits after at most ten seconds. Grandchildren inherit the option that loads this file, but do nothing
// here, because they have a different parent.
if (process.ppid === Number(process.env.MILLRACE_PARENT)) {
  process.once('disconnect', () => {
    setTimeout(() => process.exit(1), 10_000).unref();
    process.kill(process.pid, 'SIGTERM');
  });
  // The IPC channel must not keep the process running when its work is done.
  process.channel?.unref();
}
