// Where text is kept: the storages of the browser, cookies, or memory.

import type { Options } from '../client/client.ts';
import { attempt, ofDocument, page } from '../page/globals.ts';

/** Where text is kept by name; never throws. */
export interface Area {
  read(name: string): string | null;
  write(name: string, value: string): void;
  remove(name: string): void;
}

const known: { localStorage?: Storage | null; sessionStorage?: Storage | null } = {};

/** Null where the browser blocks or lacks it, or it takes nothing (full, private mode). Tried once: it takes milliseconds. */
export function webStorage(kind: 'localStorage' | 'sessionStorage'): Storage | null {
  if (known[kind] === undefined) {
    const storage = attempt(() => page?.[kind]) ?? null;
    known[kind] = storage && doesKeep(storageArea(storage)) ? storage : null;
  }
  return known[kind];
}

export function doesKeep(area: Area): boolean {
  area.write('mr_probe', '1');
  const isKept = area.read('mr_probe') !== null;
  if (isKept) area.remove('mr_probe');
  return isKept;
}

/** Memory where there is no storage. */
export function storageArea(storage: Storage | null): Area {
  if (!storage) return memoryArea();
  return {
    read: (name) => attempt(() => storage.getItem(name)) ?? null,
    write: (name, value) => attempt(() => storage.setItem(name, value)),
    remove: (name) => attempt(() => storage.removeItem(name)),
  };
}

export function memoryArea(): Area {
  const kept: Record<string, string> = {};
  return {
    read: (name) => kept[name] ?? null,
    write(name, value) {
      kept[name] = value;
    },
    remove: (name) => void delete kept[name],
  };
}

/** What a tab keeps over reloads, unless nothing may be kept. */
export function tabArea(persistence: Options['persistence']): Area {
  return persistence === 'memory' ? memoryArea() : storageArea(webStorage('sessionStorage'));
}

let knownDomain: string | undefined;

/** The shortest part of the host's name that takes cookies: browsers refuse public suffixes (`co.uk`). */
function rootDomain(): string {
  knownDomain ??= find(page?.location.hostname ?? '');
  return knownDomain;
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

/** Null where there is none, or cookies are forbidden. */
function readCookie(name: string): string | null {
  const cookies = String(attempt(() => page && ofDocument('cookie')));
  const found = cookies.split('; ').find((one) => one.startsWith(`${name}=`));
  if (found === undefined) return null;
  const value = found.slice(name.length + 1);
  return attempt(() => decodeURIComponent(value)) ?? value;
}

function writeCookie(cookie: string): void {
  attempt(() => {
    if (!page) return;
    // To a document with a form called `cookie` nothing can be assigned; what keeps cookies back until a visitor agrees is heard.
    // biome-ignore lint/suspicious/noDocumentCookie: the way that consent tools put theirs in the place of
    if (typeof document.cookie === 'string') document.cookie = cookie;
    else Reflect.set(Object.getPrototypeOf(document), 'cookie', cookie, document);
  });
}

export function cookieArea(options: Options): Area {
  const write = (name: string, value: string, days: number) => {
    const domain = options.cross_subdomain_cookie ? rootDomain() : '';
    const parts = [
      `${name}=${encodeURIComponent(value)}`,
      days && `expires=${new Date(Date.now() + days * 86_400_000).toUTCString()}`,
      'SameSite=Lax; path=/',
      domain && `domain=.${domain}`,
      options.secure_cookie && 'secure',
    ];
    writeCookie(parts.filter(Boolean).join('; '));
  };
  return {
    read: readCookie,
    write: (name, value) => write(name, value, options.cookie_expiration),
    remove: (name) => write(name, '', -1),
  };
}
