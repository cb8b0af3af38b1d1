import type { IncomingMessage } from 'node:http';

/**
 * SDKs that are known to send a batch again after 429 (docs/wire-rules.md#what-sdks-do-with-an-answer) name themselves
 * so. The legacy Java SDK does not and drops it, so a name that is not here is not trusted.
 */
const retryingSdk = /^posthog-(?:node|python|go|ruby|php|rust|dotnet|ios|android|react-native|js-lite)\//i;

/**
 * Whether the sender of a request that is refused for a while may be told so with 429. Browsers drop what is answered
 * with any 4xx; everybody sends again after a 503 (rule 12).
 */
export function retriesOn429({ method, headers }: Pick<IncomingMessage, 'method' | 'headers'>): boolean {
  // Node's own fetch sends `sec-fetch-mode` as well, so that is no sign of a browser.
  return method === 'POST' && headers.origin === undefined && retryingSdk.test(headers['user-agent'] ?? '');
}
