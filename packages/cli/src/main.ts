import { environment } from '@millrace/runtime';
import { runCli } from './run-cli.ts';

process.exitCode = await runCli(process.argv.slice(2), {
  env: environment(),
  out: process.stdout,
  err: process.stderr,
  get input() {
    return process.stdin;
  },
  get interrupted() {
    const interruption = new AbortController();
    for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => interruption.abort());
    return interruption.signal;
  },
});
