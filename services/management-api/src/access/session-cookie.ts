// Cookies for sessions and known devices, and the check that the console sent a request.

import { deviceDays, sessionDays } from '@millrace/accounts';
import type { ApiRequest } from '@millrace/http';
import { AppError } from '@millrace/runtime';

/** `step` is the cookie for an unfinished action, such as a sign-in between its two factors. */
type CookieKind = 'session' | 'device' | 'step';

interface Cookie {
  name: string;
  isSecure: boolean;
}

/**
 * Returns the cookie for the API's URL. Over TLS, the name has the prefix `__Host-`. Browsers reject a cookie with this
 * prefix if another host sets it or if `Secure` is missing. The prefix also requires the path `/`, so installations
 * under different paths of one host need different cookie names. Without TLS, only localhost is allowed, because anyone
 * on the network could steal the session.
 * @returns null if sessions are not possible
 */
function cookieAt(baseUrl: string, kind: CookieKind): Cookie | null {
  const { protocol, hostname, pathname } = new URL(baseUrl);
  const place = pathname.replaceAll(/[^0-9A-Za-z]+/g, '_').replace(/_$/, '');
  const name = `millrace_${kind}${place}`;
  if (protocol === 'https:') return { name: `__Host-${name}`, isSecure: true };
  return isLoopback(hostname) ? { name, isSecure: false } : null;
}

function isLoopback(hostname: string): boolean {
  return hostname === 'localhost' || hostname === '[::1]' || /^127(\.\d+){3}$/.test(hostname);
}

export function readSessionCookie(request: ApiRequest): string | null {
  return secretOf(request, 'session');
}

export function readDeviceCookie(request: ApiRequest): string | null {
  return secretOf(request, 'device');
}

export function readStepCookie(request: ApiRequest): string | null {
  return secretOf(request, 'step');
}

function secretOf(request: ApiRequest, kind: CookieKind): string | null {
  const header = request.header('cookie');
  const cookie = header === undefined ? null : cookieAt(request.baseUrl, kind);
  if (header === undefined || cookie === null) return null;
  for (const pair of header.split(';')) {
    const at = pair.indexOf('=');
    const value = pair.slice(at + 1).trim();
    if (pair.slice(0, at).trim() === cookie.name && /^[\w-]{43}$/.test(value)) return value;
  }
  return null;
}

/**
 * Checks that the API can set cookies. Must be called before a sign-in.
 * @throws AppError `invalid` with code `https_required` if cookies cannot be set
 */
export function requireSecureOrigin({ baseUrl }: ApiRequest): void {
  if (cookieAt(baseUrl, 'session') !== null) return;
  throw new AppError(
    'invalid',
    'Sign-in requires HTTPS, except on localhost. Behind a proxy, set PUBLIC_API_URL or TRUST_PROXY.',
    { code: 'https_required' },
  );
}

export interface SignedIn {
  session: string;
  /** Null if the device cookie does not change. */
  device: string | null;
}

const daySeconds = 24 * 3600;
/** Lifetime in seconds of the cookie for an unfinished action. */
const stepSeconds = 600;

/** Returns headers that set the session cookie and delete the cookie for an unfinished action. */
export function setSessionCookies(request: ApiRequest, { session, device }: SignedIn) {
  const { baseUrl } = request;
  return {
    'set-cookie': [
      ...(readStepCookie(request) === null ? [] : setCookie(baseUrl, 'step', { value: '', maxAge: 0 })),
      ...setCookie(baseUrl, 'session', { value: session, maxAge: sessionDays * daySeconds }),
      ...(device === null ? [] : setCookie(baseUrl, 'device', { value: device, maxAge: deviceDays * daySeconds })),
    ],
  };
}

export function setStepCookie({ baseUrl }: ApiRequest, secret: string) {
  return { 'set-cookie': setCookie(baseUrl, 'step', { value: secret, maxAge: stepSeconds }) };
}

/** Returns headers that delete the session cookie. The device cookie stays. */
export function deleteSessionCookie({ baseUrl }: ApiRequest) {
  return { 'set-cookie': setCookie(baseUrl, 'session', { value: '', maxAge: 0 }) };
}

function setCookie(baseUrl: string, kind: CookieKind, { value, maxAge }: { value: string; maxAge: number }): string[] {
  const cookie = cookieAt(baseUrl, kind);
  if (cookie === null) return [];
  const secure = cookie.isSecure ? '; Secure' : '';
  return [`${cookie.name}=${value}; Path=/; Max-Age=${maxAge}; HttpOnly; SameSite=Lax${secure}`];
}

/**
 * Checks that a page of this installation sent the request, because browsers also send the cookie with requests from
 * other sites. According to the browser's headers, a request that changes something must come from a page of this
 * installation. It must contain JSON, because HTML forms on other sites cannot send JSON. A GET request that changes
 * something must not come from a link on another site.
 * @throws AppError `forbidden` or `unsupported_media_type`
 */
export function requireOwnPage(request: ApiRequest, isUnsafe: boolean): void {
  const isRead = request.method === 'GET' || request.method === 'HEAD';
  if (isRead && !isUnsafe) return;
  const origin = originOf(request);
  // Older browsers do not send these headers with GET, even from this installation's pages.
  if (origin !== 'own' && !(isRead && origin === 'unknown')) {
    throw new AppError(
      'forbidden',
      "Requests with a session cookie can make changes only from this installation's own pages. Use a " +
        'personal API key instead.',
    );
  }
  if (isRead) return;
  const type = request.header('content-type');
  if (type !== undefined && !/^application\/json\s*(;|$)/i.test(type)) {
    throw new AppError(
      'unsupported_media_type',
      'Requests with a session cookie must have a JSON body (`Content-Type: application/json`).',
    );
  }
}

/**
 * Rejects public requests from pages of other sites, because they could sign the user in to another account.
 * @throws AppError `forbidden`
 */
export function rejectForeignPage(request: ApiRequest): void {
  if (originOf(request) !== 'foreign') return;
  throw new AppError('forbidden', "Users can sign in or out only from this installation's own pages.");
}

/**
 * Returns the origin of the page that sent the request. The browser sets `Sec-Fetch-Site`, which is correct even behind
 * a proxy that changes the host. Older browsers send only `Origin`.
 */
function originOf(request: ApiRequest): 'own' | 'foreign' | 'unknown' {
  const site = request.header('sec-fetch-site');
  if (site !== undefined) return site === 'same-origin' ? 'own' : 'foreign';
  const origin = request.header('origin');
  if (origin === undefined) return 'unknown';
  return origin === new URL(request.baseUrl).origin ? 'own' : 'foreign';
}
