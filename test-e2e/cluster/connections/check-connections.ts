import { mayConnect, type Party } from '../network-policies.ts';
import { dnsAddress, isPodAddress } from '../node/cluster-network.ts';
import type { SeenPod, Traffic } from './watch-connections.ts';

/**
 * Connections without duplicates, in the format `<namespace>/<component> → <namespace>/<component>:<port>/<protocol>`.
 */
export interface ConnectionReport {
  allowed: string[];
  /** Connections that no policy allows, and connections from or to an unknown pod. */
  refused: string[];
  /**
   * Connections from the kubelet's probes and from clients outside pods. All network policy implementations allow them.
   */
  fromNode: string[];
}

interface End {
  name: string;
  /** The pod or server at the IP address. Undefined for an address in the pod range that was never assigned. */
  party: Party | undefined;
}

/**
 * Checks each connection against the policies that were in effect when it was opened. A connection that was refused
 * once counts as refused.
 */
export function checkConnections({ connections, pods, policies }: Traffic): ConnectionReport {
  const endAt = ends(pods);
  const found = { allowed: new Set<string>(), refused: new Set<string>(), fromNode: new Set<string>() };
  for (const { from, to, port, protocol, at } of connections) {
    if (!isPodAddress(from) && !isPodAddress(to)) continue;
    const [a, b] = [endAt(from, at), endAt(to, at)];
    const name = `${isPodAddress(from) ? a.name : 'node'} → ${b.name}:${port}/${protocol}`;
    if (!isPodAddress(from)) {
      found.fromNode.add(name);
      continue;
    }
    const present = policies.filter((policy) => policy.from <= at && at < policy.until);
    const isLet = a.party && b.party && mayConnect(present, { from: a.party, to: b.party, port, protocol });
    found[isLet ? 'allowed' : 'refused'].add(name);
  }
  const allowed = [...found.allowed].filter((name) => !found.refused.has(name));
  return { allowed, refused: [...found.refused], fromNode: [...found.fromNode] };
}

/** The DNS server runs outside the nodes in this cluster. In other clusters, it is a pod in this namespace. */
const dns: End = { name: 'kube-system/dns', party: { namespace: 'kube-system', labels: {} } };

/** Returns a function that finds the pod or server with an IP address at a given time. */
function ends(pods: readonly SeenPod[]): (address: string, at: number) => End {
  const youngestFirst = [...pods].sort((one, other) => other.createdAt - one.createdAt);
  return (address, at) => {
    if (address === dnsAddress) return dns;
    if (!isPodAddress(address)) return { name: address, party: { address } };
    // A new pod can get the IP address of a deleted pod, so use the youngest pod that existed at that time.
    const pod = youngestFirst.find(({ ip, createdAt }) => ip === address && createdAt <= at);
    if (pod === undefined) return { name: `unknown/${address}`, party: undefined };
    const { namespace, labels } = pod.party;
    return { name: `${namespace}/${labels['app.kubernetes.io/component'] ?? pod.name}`, party: pod.party };
  };
}
