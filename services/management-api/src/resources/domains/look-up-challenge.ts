import { Resolver } from 'node:dns/promises';

/** What stands in front of a domain's name in the DNS, so that the proof is in nobody's way. */
const challengeLabel = '_millrace-challenge';

export interface DnsSettings {
  /** Addresses of name servers, `192.0.2.1` or `192.0.2.1:53`; the system's own when empty. */
  servers: readonly string[];
  /** How long one server may take, in milliseconds; each is asked twice. */
  timeoutMs: number;
}

/** Looks whether a domain shows its challenge. Whatever goes wrong on the way is no proof. */
export type LookUpChallenge = (domain: string, challenge: string) => Promise<'shown' | 'not shown' | 'no answer'>;

/** @throws TypeError at start for an address that is none. */
export function createChallengeLookup({ servers, timeoutMs }: DnsSettings): LookUpChallenge {
  const resolver = new Resolver({ timeout: timeoutMs, tries: 2 });
  if (servers.length > 0) resolver.setServers([...servers]);
  return async (domain, challenge) => {
    try {
      const records = await resolver.resolveTxt(`${challengeLabel}.${domain}`);
      return records.some(([first]) => first === challenge) ? 'shown' : 'not shown';
    } catch (error) {
      const { code } = error as { code?: unknown };
      return code === 'ENOTFOUND' || code === 'ENODATA' ? 'not shown' : 'no answer';
    }
  };
}
