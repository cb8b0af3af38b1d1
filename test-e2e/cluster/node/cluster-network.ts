import { serviceRange } from '../api-server/run-api-server.ts';
import { runOrExplain } from '../parts/run-or-explain.ts';
import type { NodePrograms } from './node-programs.ts';

/** IP address of all programs in the cluster that do not run in a pod. Only pods can reach it. */
export const hostAddress = '198.18.0.1';
export const dnsAddress = '198.18.0.53';
export const podRange = '10.244.0.0/16';

/** Returns a node's IP address. Node numbers start at 1, and the first node is the host. */
export const getNodeAddress = (node: number) => `198.18.0.${node}`;
export const getPodRange = (node: number) => `10.244.${node}.0/24`;

/** Returns whether an IP address belongs to a pod. The first IP address in each range belongs to the node's bridge. */
export const isPodAddress = (address: string) => /^10\.244\.\d+\.\d+$/.test(address) && !address.endsWith('.1');

/** Assigns the cluster's IP addresses in an empty network namespace. */
export async function prepareNetwork({ env }: NodePrograms, nodes: number): Promise<void> {
  const ip = (line: string) => runOrExplain('ip', line.split(' '), { env });
  await ip('link set lo up');
  // Use a pair of connected virtual devices, because not every kernel has dummy devices.
  await ip('link add node0 type veth peer name node1');
  for (let node = 1; node <= nodes; node += 1) await ip(`addr add ${getNodeAddress(node)}/24 dev node0`);
  await ip(`addr add ${dnsAddress}/24 dev node0`);
  for (const device of ['node0', 'node1']) await ip(`link set ${device} up`);
  // Packets to service addresses need a route before kube-proxy's rules redirect them.
  await ip(`route add ${serviceRange} dev node0`);
  // If a service connects two pods on the same bridge, the reply must pass through the rules that changed the request.
  for (const setting of ['net.ipv4.ip_forward=1', 'net.bridge.bridge-nf-call-iptables=1']) {
    await runOrExplain('sysctl', ['-q', '-w', setting], { env });
  }
}
