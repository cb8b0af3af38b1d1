import { attempt, page } from '../page/globals.ts';
import { newUuid } from '../page/new-uuid.ts';

export interface CookieRules {
  days: number;
  isCrossSubdomain: boolean;
  isSecure: boolean;
}

/** Null where there is none, or cookies are forbidden. */
export function readCookie(name: string): string | null {
  const cookies = attempt(() => page?.document.cookie) ?? '';
  const pair = cookies.split('; ').find((one) => one.startsWith(`${name}=`));
  if (pair === undefined) return null;
  const value = pair.slice(name.length + 1);
  return attempt(() => decodeURIComponent(value)) ?? value;
}

/** A negative number of days removes it. */
export function writeCookie(name: string, value: string, { days, isCrossSubdomain, isSecure }: CookieRules): void {
  const domain = isCrossSubdomain ? rootDomain() : '';
  const expires = days ? `; expires=${new Date(Date.now() + days * 86_400_000).toUTCString()}` : '';
  put(
    `${name}=${encodeURIComponent(value)}${expires}; SameSite=Lax; path=/${domain && `; domain=.${domain}`}${isSecure ? '; secure' : ''}`,
  );
}

function put(cookie: string): void {
  attempt(() => {
    if (page) page.document.cookie = cookie;
  });
}

let knownRoot: string | undefined;

/** The shortest part of the host's name that takes cookies: browsers refuse public suffixes (`co.uk`). */
function rootDomain(): string {
  if (knownRoot !== undefined) return knownRoot;
  const labels = page?.location.hostname.split('.') ?? [];
  const probe = `dmn_chk_${newUuid()}`;
  const candidates = labels.map((_, at) => labels.slice(at).join('.')).reverse();
  const takes = (domain: string) => {
    put(`${probe}=1; domain=.${domain}; path=/; max-age=3`);
    const isTaken = readCookie(probe) !== null;
    if (isTaken) put(`${probe}=1; domain=.${domain}; path=/; max-age=0`);
    return isTaken;
  };
  // Addresses and `localhost` have no parts that share anything.
  knownRoot = /\.\D*$/.test(labels.join('.')) ? (candidates.slice(0, 8).find(takes) ?? '') : '';
  return knownRoot;
}
