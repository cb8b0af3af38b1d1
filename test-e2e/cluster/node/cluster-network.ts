import { serviceRange } from '../api-server/run-api-server.ts';
import { runOrExplain } from '../parts/run-or-explain.ts';
import type { NodePrograms } from './node-programs.ts';

/** The node that everything of a cluster outside of pods listens on: pods reach it, and nobody else does. */
export const hostAddress = '198.18.0.1';
/** Where pods ask for names. */
export const dnsAddress = '198.18.0.53';
export const podRange = '10.244.0.0/16';

/** Address of a node, counted from 1; the first is the host itself. */
export const nodeAddress = (node: number) => `198.18.0.${node}`;
/** Addresses of its pods. */
export const podRangeOf = (node: number) => `10.244.${node}.0/24`;

/** Of a pod, and not of a node, whose end of its pods' bridge has the first address of their range. */
export const isPodAddress = (address: string) => /^10\.244\.\d+\.\d+$/.test(address) && !address.endsWith('.1');

/** Gives an empty network namespace the addresses of the cluster's own parts. */
export async function prepareNetwork({ env }: NodePrograms, nodes: number): Promise<void> {
  const ip = (line: string) => runOrExplain('ip', line.split(' '), { env });
  await ip('link set lo up');
  // A pair of cables that end in each other: not every kernel has a device that leads nowhere.
  await ip('link add node0 type veth peer name node1');
  for (let node = 1; node <= nodes; node += 1) await ip(`addr add ${nodeAddress(node)}/24 dev node0`);
  await ip(`addr add ${dnsAddress}/24 dev node0`);
  for (const device of ['node0', 'node1']) await ip(`link set ${device} up`);
  // Before their rules lead the addresses of services to pods, packets need a way to leave by.
  await ip(`route add ${serviceRange} dev node0`);
  // Pods on one bridge that talk by way of a service: the answer has to pass the rules that changed the question.
  for (const setting of ['net.ipv4.ip_forward=1', 'net.bridge.bridge-nf-call-iptables=1']) {
    await runOrExplain('sysctl', ['-q', '-w', setting], { env });
  }
}
