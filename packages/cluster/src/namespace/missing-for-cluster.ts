import { findJava } from '@millrace/stack/src/kafka/java.ts';
import { hasProgram, runProgram } from '@millrace/stack/src/process/run-program.ts';
import { missingForApiServer } from '../api-server/missing-for-api-server.ts';

/** Why a whole cluster cannot run on this machine, in half a sentence; null when it can. */
export async function missingForCluster(): Promise<string | null> {
  const missing = await missingForApiServer();
  if (missing !== null) return missing;
  if (process.getuid?.() !== 0) return 'a node needs root';
  if (!(await findJava())) return 'no Java 17 or newer, for Kafka';
  for (const program of ['unshare', 'ip', 'mount', 'sysctl', 'redis-server']) {
    if (!(await hasProgram(program))) return `no ${program}`;
  }
  const trial = 'mount -t tmpfs tmpfs /run && ip link add node0 type veth peer name node1';
  const words = ['--net', '--mount', '--pid', '--fork', '--mount-proc', '--', 'sh', '-c', trial];
  const { status, output } = await runProgram('unshare', words);
  return status === 0 ? null : `no namespaces of our own: ${output.trim().split('\n').at(-1)}`;
}
