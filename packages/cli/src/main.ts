// The entry point of the `millrace` command.

import { readEnvironment } from '@millrace/runtime';
import { runCli } from './program.ts';

const unread = new AbortController();
// The reader of a pipe can close it early, as in `millrace … | head`. The command still finishes its work, unless it is
// one that runs until the user interrupts it.
for (const stream of [process.stdout, process.stderr]) {
  stream.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') throw error;
    if (stream === process.stdout) unread.abort();
  });
}

process.exitCode = await runCli(process.argv.slice(2), {
  env: readEnvironment(),
  directory: process.cwd(),
  out: process.stdout,
  err: process.stderr,
  get input() {
    return process.stdin;
  },
  get interrupted() {
    const interruption = new AbortController();
    for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => interruption.abort());
    return AbortSignal.any([interruption.signal, unread.signal]);
  },
});
