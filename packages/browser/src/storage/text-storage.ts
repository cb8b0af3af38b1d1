// Stores strings by name in browser storage, cookies, or memory.

import type { Options } from '../client/client.ts';
import { attempt, page, readFromDocument } from '../page/globals.ts';

/** Stores strings by name. Its methods never throw. */
export interface TextStorage {
  read(name: string): string | null;
  write(name: string, value: string): void;
  remove(name: string): void;
}

const known: { localStorage?: Storage | null; sessionStorage?: Storage | null } = {};

/**
 * Returns null if the storage is missing, blocked or full, or if the browser's private mode rejects writes. The storage
 * is tested only once, because the test takes milliseconds.
 */
export function openWebStorage(kind: 'localStorage' | 'sessionStorage'): Storage | null {
  if (known[kind] === undefined) {
    const storage = attempt(() => page?.[kind]) ?? null;
    known[kind] = storage && canStore(toTextStorage(storage)) ? storage : null;
  }
  return known[kind];
}

export function canStore(storage: TextStorage): boolean {
  storage.write('mr_probe', '1');
  const isKept = storage.read('mr_probe') !== null;
  if (isKept) storage.remove('mr_probe');
  return isKept;
}

/** Wraps a browser storage. If the argument is null, stores the strings in memory. */
export function toTextStorage(storage: Storage | null): TextStorage {
  if (!storage) return createMemoryStorage();
  return {
    read: (name) => attempt(() => storage.getItem(name)) ?? null,
    write: (name, value) => attempt(() => storage.setItem(name, value)),
    remove: (name) => attempt(() => storage.removeItem(name)),
  };
}

export function createMemoryStorage(): TextStorage {
  const texts: Record<string, string> = {};
  return {
    read: (name) => texts[name] ?? null,
    write(name, value) {
      texts[name] = value;
    },
    remove: (name) => void delete texts[name],
  };
}

/** Creates a storage that survives a reload of the tab. If persistence is off, the data is only kept in memory. */
export function createTabStorage(persistence: Options['persistence']): TextStorage {
  return persistence === 'memory' ? createMemoryStorage() : toTextStorage(openWebStorage('sessionStorage'));
}

let knownDomain: string | undefined;

/**
 * Returns the shortest suffix of the host name for which the browser accepts cookies. Browsers reject public suffixes
 * such as `co.uk`.
 */
function rootDomain(): string {
  knownDomain ??= find(page?.location.hostname ?? '');
  return knownDomain;
}

function find(host: string): string {
  // IP addresses and `localhost` do not have a suffix that other hosts share.
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

/** Returns the value of a cookie, or null if it does not exist or cookies are blocked. */
function readCookie(name: string): string | null {
  const cookies = String(attempt(() => page && readFromDocument('cookie')));
  const found = cookies.split('; ').find((one) => one.startsWith(`${name}=`));
  if (found === undefined) return null;
  const value = found.slice(name.length + 1);
  return attempt(() => decodeURIComponent(value)) ?? value;
}

function writeCookie(cookie: string): void {
  attempt(() => {
    if (!page) return;
    // If a form named `cookie` shadows the property, use the native setter. Otherwise assign directly, because consent
    // management tools may override `document.cookie` to intercept writes.
    // biome-ignore lint/suspicious/noDocumentCookie: consent tools replace this property
    if (typeof document.cookie === 'string') document.cookie = cookie;
    else Reflect.set(Object.getPrototypeOf(document), 'cookie', cookie, document);
  });
}

export function createCookieStorage(options: Options): TextStorage {
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
