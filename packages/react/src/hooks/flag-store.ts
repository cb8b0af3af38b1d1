import type { PostHog } from '../context/posthog.ts';
import { isDeepEqual } from '../utils/object-utils.ts';

/** Where a hook has its value from. */
export interface FlagSource<Value> {
  client: PostHog | undefined;
  /** What the page was given before the client knows any flags; nothing when it was given none. */
  bootstrapped: { value: Value | undefined } | null | undefined;
  /** What the client says, captured by nobody: React reads also for renders that it throws away. */
  read(client: PostHog): Value | undefined;
  /** Called for what is on the page when flags are known, and whenever they are loaded, with the keys of those that are on. */
  seen(client: PostHog, active: string[]): void;
}

/** As `useSyncExternalStore` takes them. */
export type FlagStore<Value> = [
  subscribe: (changed: () => void) => () => void,
  getSnapshot: () => Value | undefined,
  getServerSnapshot: () => Value | undefined,
];

/** What one hook shows of a client's flags. */
export function createFlagStore<Value>({ client, bootstrapped, read, seen }: FlagSource<Value>): FlagStore<Value> {
  let last: Value | undefined;

  function getSnapshot(): Value | undefined {
    const isEarly = bootstrapped && !client?.featureFlags?.hasLoadedFlags;
    // A client that has not started complains of every call but the subscription, which it keeps until then.
    const next = isEarly || client?.__loaded === false ? bootstrapped?.value : client && read(client);
    // Clients make results and payloads anew; React compares by identity.
    if (!isDeepEqual(last, next)) last = next;
    return last;
  }

  // React subscribes only for what has come onto the page.
  function subscribe(changed: () => void): () => void {
    if (!client) return () => {};
    return client.onFeatureFlags((active) => {
      seen(client, active);
      changed();
    });
  }

  // Also what the browser shows until it has taken over the server's page: a server knows no flags of the last visit.
  const getServerSnapshot = () => (bootstrapped || typeof window !== 'undefined' ? bootstrapped?.value : getSnapshot());

  return [subscribe, getSnapshot, getServerSnapshot];
}
