import type { IncomingHttpHeaders } from 'node:http';

/** What the asking program runs on: `all` for one that wants flags of both kinds, `unknown` for one that says nothing. */
export type RequestRuntime = 'all' | 'client' | 'server' | 'unknown';

const browser = /Mozilla\/|Chrome\/|Safari\/|Firefox\/|Edge\//;
const serverSdk = /^posthog-(?:python|ruby|php|java|go|node|dotnet|elixir)\/|python-requests\/|curl\//;
const appSdk = /^posthog-(?:android|ios|react-native|flutter)\//;
const browserHeaders = ['origin', 'referer', 'sec-fetch-mode', 'sec-fetch-site'];

/** @param said the field `evaluation_runtime`, null without one. Else the headers tell. */
export function requestRuntime(said: string | null, headers: IncomingHttpHeaders): RequestRuntime {
  if (said !== null) {
    const name = said.toLowerCase();
    return name === 'client' || name === 'server' ? name : 'all';
  }
  const agent = headers['user-agent'] ?? '';
  if (browser.test(agent)) return 'client';
  if (serverSdk.test(agent)) return 'server';
  if (appSdk.test(agent)) return 'client';
  return browserHeaders.some((name) => headers[name] !== undefined) ? 'client' : 'unknown';
}
