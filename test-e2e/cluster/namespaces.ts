// Creates Linux namespaces for a cluster, and checks whether this machine supports them.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { readEnvironment } from '@millrace/runtime';
import { hasProgram, runProgram } from '@millrace/stack/run-program';
import { findJava } from '@millrace/stack/servers/kafka';
import { findRedisServer } from '@millrace/stack/servers/redis';
import { createReaper } from '@millrace/stack/servers/server-process';
import { explainMissingApiServer } from './api-server/start-api-server.ts';
import { runOrExplain } from './parts/run-or-explain.ts';

/**
 * Runs a program with its own network, mounts and processes. When the program or this process ends, all processes that
 * the program started end too.
 * @returns the program's exit code
 */
export async function runInNamespaces(command: string, words: readonly string[]): Promise<number> {
  const reaper = createReaper();
  const child = spawn(
    'unshare',
    [
      ...['--net', '--mount', '--pid', '--fork', '--kill-child', '--mount-proc', '--'],
      // A namespace's first process inherits orphaned processes and must reap them. A shell does this.
      ...['sh', '-c', '"$@"; exit $?', 'millrace-cluster', command, ...words],
    ],
    { stdio: 'inherit', env: readEnvironment() },
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

/**
 * Redirects the hard-coded paths of a node's programs to directories in `directory`. Must be called inside the
 * namespaces.
 */
export async function prepareMounts(directory: string): Promise<void> {
  const mount = (...words: string[]) => runOrExplain('mount', words);
  const [upper, work] = [join(directory, 'var'), join(directory, 'var-work')];
  mkdirSync(upper);
  mkdirSync(work);
  await mount('-t', 'overlay', 'overlay', '-o', `lowerdir=/var,upperdir=${upper},workdir=${work}`, '/var');
  await mount('-t', 'tmpfs', 'tmpfs', '/run');
  // Share mounts, because the kubelet's mounts must be visible in containers.
  await mount('--make-rshared', '/');
}

/** Returns why this machine cannot run a cluster, as a clause for a message, or null if it can. */
export async function explainMissingCluster(): Promise<string | null> {
  const missing = await explainMissingApiServer();
  if (missing !== null) return missing;
  if (process.getuid?.() !== 0) return 'a node needs root';
  if (!(await findJava())) return 'no Java 17 or newer, for Kafka';
  if (!(await findRedisServer())) return 'no redis-server';
  for (const program of ['unshare', 'ip', 'mount', 'sysctl']) {
    if (!(await hasProgram(program))) return `no ${program}`;
  }
  const trial = 'mount -t tmpfs tmpfs /run && ip link add node0 type veth peer name node1';
  const words = ['--net', '--mount', '--pid', '--fork', '--mount-proc', '--', 'sh', '-c', trial];
  const { status, output } = await runProgram('unshare', words);
  return status === 0 ? null : `cannot create namespaces: ${output.trim().split('\n').at(-1)}`;
}
