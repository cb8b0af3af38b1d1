import { attempt, page } from '../page/globals.ts';

/** Null where there is none, or cookies are forbidden. */
export function readCookie(name: string): string | null {
  // A form called `cookie` is what `document.cookie` is then.
  const cookies = String(attempt(() => page?.document.cookie));
  const found = cookies.split('; ').find((one) => one.startsWith(`${name}=`));
  if (found === undefined) return null;
  const value = found.slice(name.length + 1);
  return attempt(() => decodeURIComponent(value)) ?? value;
}

export function writeCookie(cookie: string): void {
  attempt(() => {
    if (page) page.document.cookie = cookie;
  });
}
