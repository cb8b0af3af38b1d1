/** The TXT record by which an organization shows that a domain is its own. */

import { Resolver } from 'node:dns/promises';

/** What stands in front of a domain's name in the DNS, so that the proof is in nobody's way. */
const challengeLabel = '_millrace-challenge';

interface DnsSettings {
  /** Addresses of name servers, `192.0.2.1` or `192.0.2.1:53`; the system's own when empty. */
  servers: readonly string[];
  /** How long one server may take, in milliseconds; each is asked twice. */
  timeoutMs: number;
}

/** What was asked, of whom, and what came back. */
export interface ChallengeCheck {
  outcome: 'shown' | 'not shown' | 'no answer';
  /** The name whose TXT records were asked for. */
  name: string;
  servers: string[];
  /** The records that are there, at most 20 of 255 characters; between the strings of one stands `" "`, as in a zone file. */
  found: string[];
  /** Why there are none, as the resolver says it: `ENOTFOUND`, `ETIMEOUT`; null when there are some. */
  error: string | null;
}

/** Looks whether a domain shows its challenge. Whatever goes wrong on the way is no proof. */
export type LookUpChallenge = (domain: string, challenge: string) => Promise<ChallengeCheck>;

/** @throws TypeError at start for an address that is none. */
export function createChallengeLookup({ servers, timeoutMs }: DnsSettings): LookUpChallenge {
  const resolver = new Resolver({ timeout: timeoutMs, tries: 2 });
  if (servers.length > 0) resolver.setServers([...servers]);
  return async (domain, challenge) => {
    const asked = { name: `${challengeLabel}.${domain}`, servers: resolver.getServers() };
    try {
      const records = await resolver.resolveTxt(asked.name);
      const isShown = records.some(([first]) => first === challenge);
      const found = records.slice(0, 20).map((parts) => parts.join('" "').slice(0, 255));
      return {
        ...asked,
        outcome: isShown ? 'shown' : 'not shown',
        found,
        error: records.length === 0 ? 'ENODATA' : null,
      };
    } catch (error) {
      const { code } = error as { code?: unknown };
      const isEmpty = code === 'ENOTFOUND' || code === 'ENODATA';
      const name = typeof code === 'string' ? code : 'UNKNOWN';
      return { ...asked, outcome: isEmpty ? 'not shown' : 'no answer', found: [], error: name };
    }
  };
}
