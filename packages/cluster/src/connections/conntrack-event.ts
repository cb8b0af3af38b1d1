/** A connection as it begins, where it really leads to. */
export interface ConnectionEvent {
  /** When, in milliseconds. */
  at: number;
  /** Addresses. */
  from: string;
  to: string;
  port: number;
  protocol: 'TCP' | 'UDP';
}

/** Ends of the first packet, then those of the answer to it. */
const pattern =
  /^\[(\d+\.\d+)\]\s+\[NEW\]\s+(tcp|udp) .*?src=(\S+) dst=\S+ sport=\d+ dport=\d+ .*?src=(\S+) dst=\S+ sport=(\d+) dport=\d+/;

/**
 * A line of `conntrack -E -e NEW -o timestamp`; null when it tells of something else. Who answers is whom the address of a
 * service was replaced by: policies see that one.
 */
export function parseConntrackEvent(line: string): ConnectionEvent | null {
  const [found, at, protocol, from = '', to = '', port] = pattern.exec(line) ?? [];
  if (found === undefined) return null;
  return {
    at: Math.round(Number(at) * 1000),
    from,
    to,
    port: Number(port),
    protocol: protocol === 'tcp' ? 'TCP' : 'UDP',
  };
}
