import { isIP } from 'node:net';

/** The list of public suffixes takes 15 MB: it is read in when the first visitor without cookies comes. */
let reading: Promise<typeof import('tldts')> | undefined;

/**
 * The domain that somebody registered (`www.shop.example.co.uk:8080` → `example.co.uk`), so that a visitor is one on all
 * hosts of a site; the host itself where there is none.
 */
export async function rootDomain(host: string): Promise<string> {
  if (isIP(host) !== 0) return host;
  reading ??= import('tldts');
  const { getDomain } = await reading;
  return getDomain(host) ?? host.toLowerCase();
}
