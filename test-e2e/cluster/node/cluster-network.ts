import { serviceRange } from '../api-server/run-api-server.ts';
import { runOrExplain } from '../parts/run-or-explain.ts';
import type { NodePrograms } from './node-programs.ts';

/** Address of everything in the cluster that does not run in a pod. Only pods can reach it. */
export const hostAddress = '198.18.0.1';
/** Address of the DNS server. */
export const dnsAddress = '198.18.0.53';
export const podRange = '10.244.0.0/16';

/** Returns the address of a node. Nodes are counted from 1, and the first one is the host itself. */
export const nodeAddress = (node: number) => `198.18.0.${node}`;
/** Returns the address range of the pods of a node. */
export const podRangeOf = (node: number) => `10.244.${node}.0/24`;

/**
 * Returns whether an address belongs to a pod. The first address in each range is that of the node itself, on the
 * bridge.
 */
export const isPodAddress = (address: string) => /^10\.244\.\d+\.\d+$/.test(address) && !address.endsWith('.1');

/** Assigns the addresses of the cluster's own parts, in an empty network namespace. */
export async function prepareNetwork({ env }: NodePrograms, nodes: number): Promise<void> {
  const ip = (line: string) => runOrExplain('ip', line.split(' '), { env });
  await ip('link set lo up');
  // Connects two virtual devices with each other, because not every kernel has dummy devices.
  await ip('link add node0 type veth peer name node1');
  for (let node = 1; node <= nodes; node += 1) await ip(`addr add ${nodeAddress(node)}/24 dev node0`);
  await ip(`addr add ${dnsAddress}/24 dev node0`);
  for (const device of ['node0', 'node1']) await ip(`link set ${device} up`);
  // Packets to the addresses of services need a route before the rules of kube-proxy redirect them.
  await ip(`route add ${serviceRange} dev node0`);
  // If two pods on the same bridge are connected through a service, the reply must pass through the rules that have
  // changed the request.
  for (const setting of ['net.ipv4.ip_forward=1', 'net.bridge.bridge-nf-call-iptables=1']) {
    await runOrExplain('sysctl', ['-q', '-w', setting], { env });
  }
}
