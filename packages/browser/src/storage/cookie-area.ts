import type { Options } from '../client/client.ts';
import type { Area } from './areas.ts';
import { readCookie, writeCookie } from './cookies.ts';
import { rootDomain } from './root-domain.ts';

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
