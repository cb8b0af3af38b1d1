import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ServerProcess } from '@millrace/stack/src/process/server-process.ts';
import { type PartOptions, startPart } from '../control-plane/start-part.ts';
import { dnsAddress } from '../node/cluster-network.ts';
import { goProgram } from '../parts/go-program.ts';

/** The file of the program. */
export const coreDns = () => goProgram({ module: 'coredns', path: 'millrace/coredns' });

/** CoreDNS beside the nodes, at the address every pod asks. It knows the cluster and nothing of the world outside. */
export async function startDns(kubeconfig: string, options: PartOptions): Promise<ServerProcess> {
  const corefile = join(options.directory, 'Corefile');
  writeFileSync(
    corefile,
    `.:53 {
  bind ${dnsAddress}
  errors
  kubernetes cluster.local in-addr.arpa {
    kubeconfig ${kubeconfig}
    ttl 5
  }
  cache 5
}
`,
  );
  const command = await coreDns();
  return startPart('coredns', { command, flags: ['-conf', corefile] }, options);
}
