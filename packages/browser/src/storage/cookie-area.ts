import type { Options } from '../client/client.ts';
import type { Area } from './areas.ts';
import { readCookie, writeCookie } from './cookies.ts';

/** Undefined where the browser takes no cookies. */
export function cookieArea(options: Options): Area | undefined {
  const rules = () => ({
    days: options.cookie_expiration,
    isCrossSubdomain: options.cross_subdomain_cookie,
    isSecure: options.secure_cookie,
  });
  const area: Area = {
    read: readCookie,
    write: (name, value) => writeCookie(name, value, rules()),
    remove: (name) => writeCookie(name, '', { ...rules(), days: -1 }),
  };
  const probe = '__mr_probe';
  writeCookie(probe, '1', { ...rules(), days: 1 });
  if (area.read(probe) === null) return undefined;
  area.remove(probe);
  return area;
}
