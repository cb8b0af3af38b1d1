import { environment } from '@millrace/runtime';
import { runCli } from './run-cli.ts';

process.exitCode = await runCli(process.argv.slice(2), {
  env: environment(),
  out: process.stdout,
  err: process.stderr,
});
