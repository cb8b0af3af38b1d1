import type { Bootstrap } from '@millrace/browser';
import type { PostHog } from '../context/posthog.ts';
import { isDeepEqual } from '../utils/object-utils.ts';

/** What a hook shows of a flag, and where it has it from. */
export interface FlagView<Value> {
  /** What the client says. It captures the reading, unless `quiet` says not to. */
  fromClient(client: PostHog, flag: string, quiet?: { send_event: false }): Value | undefined;
  /** The part of the bootstrap that has it. */
  part: 'featureFlags' | 'featureFlagPayloads';
  fromBootstrap(bootstrap: Bootstrap, flag: string): Value | undefined;
}

/** For `useSyncExternalStore`. */
export interface FlagStore<Value> {
  subscribe(changed: () => void): () => void;
  getSnapshot(): Value | undefined;
  getServerSnapshot(): Value | undefined;
}

const quiet = { send_event: false } as const;

/** One flag as one hook sees it. */
export function createFlagStore<Value>(
  { client, bootstrap }: { client: PostHog | undefined; bootstrap?: Bootstrap | undefined },
  flag: string,
  { fromClient, fromBootstrap, part }: FlagView<Value>,
): FlagStore<Value> {
  const values = bootstrap?.[part];
  const isBootstrapped = values !== undefined;
  const bootstrapped = values && Object.hasOwn(values, flag) ? fromBootstrap(bootstrap, flag) : undefined;
  let last: Value | undefined;

  function read(): Value | undefined {
    if (isBootstrapped && !client?.featureFlags?.hasLoadedFlags) return bootstrapped;
    return client && fromClient(client, flag, quiet);
  }

  return {
    // React subscribes only for what has come onto the page: what is captured as seen was seen, also when React renders
    // twice or throws a render away.
    subscribe(changed) {
      if (!client) return () => {};
      fromClient(client, flag);
      return client.onFeatureFlags(() => {
        fromClient(client, flag);
        changed();
      });
    },
    // Clients make results and payloads anew; React compares by identity.
    getSnapshot() {
      const next = read();
      if (!isDeepEqual(last, next)) last = next;
      return last;
    },
    // Also what the browser shows until it has taken over the server's page: a server knows no flags of the last visit.
    getServerSnapshot() {
      return isBootstrapped || typeof window !== 'undefined' ? bootstrapped : read();
    },
  };
}
