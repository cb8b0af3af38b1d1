/** The parts of a NetworkPolicy that decide. */
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

export interface PolicyPeer {
  podSelector?: LabelSelector;
  namespaceSelector?: LabelSelector;
  ipBlock?: { cidr: string; except?: string[] };
}

export interface LabelSelector {
  matchLabels?: Record<string, string>;
  matchExpressions?: unknown[];
}
