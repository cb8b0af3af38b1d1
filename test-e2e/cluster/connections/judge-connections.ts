import { mayConnect, type Party } from '../network-policies.ts';
import { dnsAddress, isPodAddress } from '../node/cluster-network.ts';
import type { SeenPod, Traffic } from './watch-connections.ts';

/** Different connections, each `<namespace>/<component> → <namespace>/<component>:<port>/<protocol>`. */
export interface Judgement {
  allowed: string[];
  /** What no policy allows, and what is from or to a pod that nobody knows. */
  refused: string[];
  /** Of the kubelet's probes and of clients beside the pods: every implementation lets a node reach its pods. */
  fromNode: string[];
}

interface End {
  name: string;
  /** Undefined for an address of pods that no pod had. */
  party: Party | undefined;
}

/** Judges what pods really did, each by the policies of its time. One that was refused once counts as refused. */
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

/** DNS listens beside the nodes here, and is a pod of this namespace elsewhere. */
const dns: End = { name: 'kube-system/dns', party: { namespace: 'kube-system', labels: {} } };

/** Who has an address at a time. */
function ends(pods: readonly SeenPod[]): (address: string, at: number) => End {
  const youngestFirst = [...pods].sort((one, other) => other.createdAt - one.createdAt);
  return (address, at) => {
    if (address === dnsAddress) return dns;
    if (!isPodAddress(address)) return { name: address, party: { address } };
    // An address is given again some day: to a pod that is made after the one before.
    const pod = youngestFirst.find(({ ip, createdAt }) => ip === address && createdAt <= at);
    if (pod === undefined) return { name: `unknown/${address}`, party: undefined };
    const { namespace, labels } = pod.party;
    return { name: `${namespace}/${labels['app.kubernetes.io/component'] ?? pod.name}`, party: pod.party };
  };
}
