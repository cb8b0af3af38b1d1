// The cookies of a session and of a known device, and which page a request with one comes from.

import { deviceDays, sessionDays } from '@millrace/accounts';
import type { ApiRequest } from '@millrace/http';
import { AppError } from '@millrace/runtime';

/** `step`: what was begun and is not finished, e.g. a sign-in between its two factors. */
type CookieKind = 'session' | 'device' | 'step';

interface Cookie {
  name: string;
  isSecure: boolean;
}

/**
 * The cookie at the address by which the API is reached. Over TLS its name makes browsers refuse it from any other host and
 * without `Secure`. Its path has to be `/` for that, so installations below different paths of a host tell theirs apart
 * by the name. Without TLS only this machine itself is served: elsewhere anybody on the way could take the session.
 *
 * @returns null where there can be no session.
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

/** The secret of the session in a request; null when there is none. */
export function sessionOf(request: ApiRequest): string | null {
  return secretOf(request, 'session');
}

/** The secret by which the browser may be known. */
export function deviceOf(request: ApiRequest): string | null {
  return secretOf(request, 'device');
}

/** The secret of what the browser has begun. */
export function stepOf(request: ApiRequest): string | null {
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

/** To be asked before anybody signs in. @throws AppError `invalid` with code `https_required` where no cookie can be set. */
export function requireSessionPlace({ baseUrl }: ApiRequest): void {
  if (cookieAt(baseUrl, 'session') !== null) return;
  throw new AppError(
    'invalid',
    'Sign-in requires HTTPS, except on localhost. Behind a proxy, set PUBLIC_API_URL or TRUST_PROXY.',
    { code: 'https_required' },
  );
}

/** What a browser is given that has just signed in. */
export interface SignedIn {
  session: string;
  /** Null when no sign-in has taken place, and the cookie stays as it is. */
  device: string | null;
}

const daySeconds = 24 * 3600;
/** What is begun is over sooner than that, or as soon. */
const stepSeconds = 600;

/** Headers that give the browser a session. What it had begun is done. */
export function withSession(request: ApiRequest, { session, device }: SignedIn) {
  const { baseUrl } = request;
  return {
    'set-cookie': [
      ...(stepOf(request) === null ? [] : setCookie(baseUrl, 'step', { value: '', maxAge: 0 })),
      ...setCookie(baseUrl, 'session', { value: session, maxAge: sessionDays * daySeconds }),
      ...(device === null ? [] : setCookie(baseUrl, 'device', { value: device, maxAge: deviceDays * daySeconds })),
    ],
  };
}

/** Headers that let the browser go on with what it has begun. */
export function withStep({ baseUrl }: ApiRequest, secret: string) {
  return { 'set-cookie': setCookie(baseUrl, 'step', { value: secret, maxAge: stepSeconds }) };
}

/** Headers that take it away; the device stays known. */
export function withoutSession({ baseUrl }: ApiRequest) {
  return { 'set-cookie': setCookie(baseUrl, 'session', { value: '', maxAge: 0 }) };
}

function setCookie(baseUrl: string, kind: CookieKind, { value, maxAge }: { value: string; maxAge: number }): string[] {
  const cookie = cookieAt(baseUrl, kind);
  if (cookie === null) return [];
  const secure = cookie.isSecure ? '; Secure' : '';
  return [`${cookie.name}=${value}; Path=/; Max-Age=${maxAge}; HttpOnly; SameSite=Lax${secure}`];
}

/**
 * A browser sends the cookie whoever's page asks. What changes something has to come from a page of ours, which the browser
 * says, and as JSON, which other sites' forms cannot send. A GET that changes something must not come by another site's link.
 *
 * @throws AppError `forbidden`, `unsupported_media_type`.
 */
export function requireOwnPage(request: ApiRequest, isUnsafe: boolean): void {
  const isRead = request.method === 'GET' || request.method === 'HEAD';
  if (isRead && !isUnsafe) return;
  const origin = originOf(request);
  // Older browsers say nothing with a GET, not even that it is their own page's.
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

/** For what anybody may send, but no page of another site: it would sign people in as somebody else. @throws AppError `forbidden`. */
export function refuseForeignPage(request: ApiRequest): void {
  if (originOf(request) !== 'foreign') return;
  throw new AppError('forbidden', "Users can sign in or out only from this installation's own pages.");
}

/** `Sec-Fetch-Site` is the word of the browser itself, which also knows what a proxy has rewritten; older ones send `Origin` alone. */
function originOf(request: ApiRequest): 'own' | 'foreign' | 'unknown' {
  const site = request.header('sec-fetch-site');
  if (site !== undefined) return site === 'same-origin' ? 'own' : 'foreign';
  const origin = request.header('origin');
  if (origin === undefined) return 'unknown';
  return origin === new URL(request.baseUrl).origin ? 'own' : 'foreign';
}
