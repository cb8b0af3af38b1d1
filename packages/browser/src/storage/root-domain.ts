import { page } from '../page/globals.ts';
import { readCookie, writeCookie } from './cookies.ts';

let known: string | undefined;

/** The shortest part of the host's name that takes cookies: browsers refuse public suffixes (`co.uk`). */
export function rootDomain(): string {
  known ??= find(page?.location.hostname ?? '');
  return known;
}

function find(host: string): string {
  // Addresses and `localhost` have no parts that share anything.
  if (!/\.\D*$/.test(host)) return '';
  for (let at = host.lastIndexOf('.'); at > 0; ) {
    at = host.lastIndexOf('.', at - 1);
    const domain = host.slice(at + 1);
    const probe = `mr_probe=1; domain=.${domain}; path=/; max-age=`;
    writeCookie(`${probe}3`);
    if (readCookie('mr_probe') === null) continue;
    writeCookie(`${probe}0`);
    return domain;
  }
  return '';
}
