import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { environment } from '@millrace/runtime';
import { createReaper } from '@millrace/stack/src/process/reaper.ts';

/**
 * Runs a program with a network, mounts and processes of its own. Whatever it starts is gone when it ends, and when this
 * process ends, however that happens.
 * @returns its exit code
 */
export async function runInNamespaces(command: string, words: readonly string[]): Promise<number> {
  const reaper = createReaper();
  const child = spawn(
    'unshare',
    [
      ...['--net', '--mount', '--pid', '--fork', '--kill-child', '--mount-proc', '--'],
      // The first process of a namespace inherits those whose parents have ended, and has to bury them: a shell does.
      ...['sh', '-c', '"$@"; exit $?', 'millrace-cluster', command, ...words],
    ],
    { stdio: 'inherit', env: environment() },
  );
  if (child.pid) reaper.watch(child.pid, 'SIGKILL');
  const end = () => void child.kill('SIGKILL');
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(signal, end);
  try {
    const [code] = (await once(child, 'exit')) as [number | null];
    return code ?? 1;
  } finally {
    reaper.dismiss();
  }
}
