/** Checks the TXT record that proves an organization's control over a domain. */

import { Resolver } from 'node:dns/promises';

/** The subdomain for the TXT record. A separate subdomain prevents conflicts with the domain's other TXT records. */
const challengeLabel = '_millrace-challenge';

interface DnsSettings {
  /**
   * IP addresses of name servers, such as `192.0.2.1` or `192.0.2.1:53`. If empty, the system's name servers are used.
   */
  servers: readonly string[];
  /** The time limit per DNS server in milliseconds. Each server gets two attempts. */
  timeoutMs: number;
}

export interface ChallengeCheck {
  outcome: 'shown' | 'not shown' | 'no answer';
  name: string;
  servers: string[];
  /**
   * The TXT records that were found: at most 20 of 255 characters each. `" "` separates the strings of a record, as in
   * a zone file.
   */
  found: string[];
  /** The resolver's error code, such as `ENOTFOUND` or `ETIMEOUT`, or null if TXT records were found. */
  error: string | null;
}

/** Checks whether a domain has the challenge record. After any error, the domain counts as not verified. */
export type LookUpChallenge = (domain: string, challenge: string) => Promise<ChallengeCheck>;

/**
 * Creates the function that checks challenge records.
 * @throws TypeError at startup for an invalid server address
 */
export function createChallengeLookup({ servers, timeoutMs }: DnsSettings): LookUpChallenge {
  const resolver = new Resolver({ timeout: timeoutMs, tries: 2 });
  if (servers.length > 0) resolver.setServers([...servers]);
  return async (domain, challenge) => {
    const query = { name: `${challengeLabel}.${domain}`, servers: resolver.getServers() };
    try {
      const records = await resolver.resolveTxt(query.name);
      const isShown = records.some(([first]) => first === challenge);
      const found = records.slice(0, 20).map((parts) => parts.join('" "').slice(0, 255));
      return {
        ...query,
        outcome: isShown ? 'shown' : 'not shown',
        found,
        error: records.length === 0 ? 'ENODATA' : null,
      };
    } catch (error) {
      const { code } = error as { code?: unknown };
      const isEmpty = code === 'ENOTFOUND' || code === 'ENODATA';
      const name = typeof code === 'string' ? code : 'UNKNOWN';
      return { ...query, outcome: isEmpty ? 'not shown' : 'no answer', found: [], error: name };
    }
  };
}
