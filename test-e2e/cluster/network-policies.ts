// Determines which connections a cluster's network policies allow, by Kubernetes' rules.
import { BlockList, isIPv6 } from 'node:net';
/** A pod, or an IP address outside the cluster. */
export type Party = PodParty | { address: string };

export interface PodParty {
  namespace: string;
  labels: Record<string, string>;
  /** Port numbers by port name. */
  ports?: Record<string, number>;
}

interface Connection {
  from: Party;
  to: Party;
  /** The port number, or the name of a port of `to`. */
  port: number | string;
  protocol?: 'TCP' | 'UDP';
}

/**
 * Returns whether the policies allow a connection. If any policies select a pod for a direction, the pod has only the
 * connections in that direction that these policies allow. See
 * https://kubernetes.io/docs/concepts/services-networking/network-policies/
 */
export function mayConnect(policies: readonly NetworkPolicy[], connection: Connection): boolean {
  const { from, to } = connection;
  return (
    isLet(policies, { direction: 'Egress', subject: from, other: to, connection }) &&
    isLet(policies, { direction: 'Ingress', subject: to, other: from, connection })
  );
}

interface Side {
  direction: 'Ingress' | 'Egress';
  subject: Party;
  other: Party;
  connection: Connection;
}

function isLet(policies: readonly NetworkPolicy[], { direction, subject, other, connection }: Side): boolean {
  // Network policies do not apply to sources or destinations outside the cluster.
  if ('address' in subject) return true;
  const about = policies.filter(
    ({ metadata, spec }) =>
      metadata.namespace === subject.namespace &&
      spec.policyTypes?.includes(direction) &&
      hasLabels(spec.podSelector, subject.labels),
  );
  if (about.length === 0) return true;
  const rules = about.flatMap(({ spec }) => (direction === 'Ingress' ? spec.ingress : spec.egress) ?? []);
  return rules.some((rule) => {
    const peers = direction === 'Ingress' ? rule.from : rule.to;
    return (
      (peers === undefined || peers.some((peer) => isMeant(peer, other, subject.namespace))) &&
      hasPort(rule, connection)
    );
  });
}

function hasPort({ ports }: PolicyRule, { to, port, protocol = 'TCP' }: Connection): boolean {
  const named = 'address' in to ? {} : (to.ports ?? {});
  const numberOf = (of: number | string) => (typeof of === 'number' ? of : named[of]);
  const wanted = numberOf(port);
  if (wanted === undefined) throw new Error(`There is no port ${port}.`);
  return ports?.some((one) => (one.protocol ?? 'TCP') === protocol && numberOf(one.port) === wanted) ?? true;
}

function isMeant({ ipBlock, podSelector, namespaceSelector }: PolicyPeer, party: Party, ownNamespace: string): boolean {
  // Whether an IP block matches pods depends on the network implementation. The chart's IP blocks exclude private IP
  // addresses.
  if ('address' in party) return ipBlock !== undefined && isWithin(ipBlock, party.address);
  if (ipBlock !== undefined) return false;
  const isNamespace =
    namespaceSelector === undefined
      ? party.namespace === ownNamespace
      : hasLabels(namespaceSelector, { 'kubernetes.io/metadata.name': party.namespace });
  return isNamespace && hasLabels(podSelector, party.labels);
}

function hasLabels(selector: LabelSelector | undefined, labels: Record<string, string>): boolean {
  if (selector?.matchExpressions !== undefined) throw new Error('matchExpressions are not understood here.');
  return Object.entries(selector?.matchLabels ?? {}).every(([name, value]) => labels[name] === value);
}

function isWithin({ cidr, except = [] }: NonNullable<PolicyPeer['ipBlock']>, address: string): boolean {
  return isInOneOf([cidr], address) && !isInOneOf(except, address);
}

function isInOneOf(blocks: readonly string[], address: string): boolean {
  const list = new BlockList();
  for (const block of blocks) {
    const [network = '', bits] = block.split('/');
    // Compare the IP version, because Node.js would treat IPv4 addresses as part of ::/0.
    if (familyOf(network) === familyOf(address)) list.addSubnet(network, Number(bits), familyOf(network));
  }
  return list.check(address, familyOf(address));
}

const familyOf = (address: string) => (isIPv6(address) ? 'ipv6' : 'ipv4');

/** The NetworkPolicy fields that this file uses. */
export interface NetworkPolicy {
  metadata: { name: string; namespace?: string };
  spec: {
    podSelector?: LabelSelector;
    policyTypes?: string[];
    ingress?: PolicyRule[];
    egress?: PolicyRule[];
  };
}

export interface PolicyRule {
  from?: PolicyPeer[];
  to?: PolicyPeer[];
  ports?: { port: number | string; protocol?: string }[];
}

interface PolicyPeer {
  podSelector?: LabelSelector;
  namespaceSelector?: LabelSelector;
  ipBlock?: { cidr: string; except?: string[] };
}

export interface LabelSelector {
  matchLabels?: Record<string, string>;
  matchExpressions?: unknown[];
}
