import { mayConnect, type Party } from '../network-policies.ts';
import { dnsAddress, isPodAddress } from '../node/cluster-network.ts';
import type { SeenPod, Traffic } from './watch-connections.ts';

/**
 * The connections without duplicates, each as `<namespace>/<component> → <namespace>/<component>:<port>/<protocol>`.
 */
export interface Judgement {
  allowed: string[];
  /** Connections that no policy allows, and connections from or to an unknown pod. */
  refused: string[];
  /**
   * Connections of the kubelet's probes and of clients outside of pods. Every implementation of network policies allows
   * these.
   */
  fromNode: string[];
}

interface End {
  name: string;
  /** The pod or server. Undefined if no pod has had this pod address. */
  party: Party | undefined;
}

/**
 * Checks each connection against the policies that existed at its time. A connection that was denied once counts as
 * denied.
 */
export function judgeConnections({ connections, pods, policies }: Traffic): Judgement {
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

/** The DNS server. Here, it runs outside of the nodes, but in other clusters it is a pod of this namespace. */
const dns: End = { name: 'kube-system/dns', party: { namespace: 'kube-system', labels: {} } };

/** Returns a function that finds the pod or server that had an address at a certain time. */
function ends(pods: readonly SeenPod[]): (address: string, at: number) => End {
  const youngestFirst = [...pods].sort((one, other) => other.createdAt - one.createdAt);
  return (address, at) => {
    if (address === dnsAddress) return dns;
    if (!isPodAddress(address)) return { name: address, party: { address } };
    // A new pod can get the address of an earlier one, so use the youngest pod that existed at that time.
    const pod = youngestFirst.find(({ ip, createdAt }) => ip === address && createdAt <= at);
    if (pod === undefined) return { name: `unknown/${address}`, party: undefined };
    const { namespace, labels } = pod.party;
    return { name: `${namespace}/${labels['app.kubernetes.io/component'] ?? pod.name}`, party: pod.party };
  };
}
