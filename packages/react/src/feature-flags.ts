// The hooks that read flags, and the store that lets each render only when what it shows has changed.

import type { Bootstrap, FlagKey, FlagResult, FlagValue, JsonValue, ValueOf } from '@millrace/browser';
import { useContext, useMemo, useSyncExternalStore } from 'react';
import { type PostHog, PostHogContext } from './context.ts';
import { isDeepEqual } from './values.ts';

const enabled = /* @__PURE__ */ describeFlag({
  fromClient: (client, ...reading) => client.isFeatureEnabled(...reading),
  fromResult: (result) => result.enabled,
});

/** Whether the flag is on for this person; while that is unknown, `defaultValue`. */
export function useFeatureFlagEnabled(flag: FlagKey): boolean | undefined;
export function useFeatureFlagEnabled(flag: FlagKey, defaultValue: boolean): boolean;
export function useFeatureFlagEnabled(flag: FlagKey, defaultValue?: boolean): boolean | undefined {
  return useFlagStore(enabled, flag) ?? defaultValue;
}

const variantKey = /* @__PURE__ */ describeFlag<FlagValue>({
  fromClient: (client, ...reading) => client.getFeatureFlag(...reading),
  fromResult: (result) => result.variant ?? result.enabled,
});

/** The variant this person gets, `true` or `false` for a flag without variants; undefined while it is unknown. */
export function useFeatureFlagVariantKey<Key extends FlagKey>(flag: Key): ValueOf<Key> | undefined {
  return useFlagStore(variantKey, flag) as ValueOf<Key> | undefined;
}

const payload = /* @__PURE__ */ describeFlag<JsonValue>({
  // Never captured: a payload does not say what the person was shown.
  fromClient: (client, flag) => client.getFeatureFlagResult(flag, { send_event: false })?.payload,
  fromResult: (result) => result.payload,
  part: 'featureFlagPayloads',
});

/** The payload of the value this person gets. */
export function useFeatureFlagPayload(flag: FlagKey): JsonValue | undefined {
  return useFlagStore(payload, flag);
}

const result = /* @__PURE__ */ describeFlag<FlagResult>({
  fromClient: (client, ...reading) => client.getFeatureFlagResult(...reading),
  fromResult: (bootstrapped) => bootstrapped,
});

/** Value, variant and payload of a flag at once; undefined while it is unknown. */
export function useFeatureFlagResult(flag: FlagKey): FlagResult | undefined {
  return useFlagStore(result, flag);
}

const none: string[] = [];

/** The keys of all flags that are on for this person. */
export function useActiveFeatureFlags(): string[] {
  return useFlagStore(activeFlags) ?? none;
}

function activeFlags(bootstrap: Bootstrap | undefined): Omit<FlagSource<string[]>, 'client'> {
  const given = bootstrap?.featureFlags;
  let announced: string[] | undefined;
  return {
    bootstrapped: given && { value: keysOn(given) },
    read({ featureFlags }) {
      if (announced) return announced;
      const values = featureFlags.getFlagVariants?.();
      return values ? keysOn(values) : featureFlags.getFlags();
    },
    seen(_, active) {
      announced = active;
    },
  };
}

function keysOn(values: Record<string, FlagValue>): string[] {
  return Object.keys(values).filter((key) => values[key]);
}

/** What `describe` says of flags, or of the one that is given. Renders again only when that has changed. */
function useFlagStore<Value>(
  describe: (bootstrap: Bootstrap | undefined, flag: string) => Omit<FlagSource<Value>, 'client'>,
  flag = '',
): Value | undefined {
  const { client, bootstrap } = useContext(PostHogContext);
  const store = useMemo(
    () => createFlagStore({ client, ...describe(bootstrap, flag) }),
    [client, bootstrap, flag, describe],
  );
  return useSyncExternalStore(...store);
}

/** The flag, and for a reading that the client does not capture, that. */
type Reading = [flag: string, options?: { send_event: false }];

interface FlagView<Value> {
  fromClient(client: PostHog, ...reading: Reading): Value | undefined;
  /** Reads the value from the bootstrap. */
  fromResult(result: FlagResult): Value | undefined;
  /** The part of the bootstrap that has to name the flag. */
  part?: 'featureFlags' | 'featureFlagPayloads';
}

/** How a hook shows one flag. */
function describeFlag<Value>({ fromClient, fromResult, part = 'featureFlags' }: FlagView<Value>) {
  return (bootstrap: Bootstrap | undefined, flag: string): Omit<FlagSource<Value>, 'client'> => ({
    bootstrapped: bootstrap?.[part] && {
      // Names that every object inherits are no flags.
      value: Object.keys(bootstrap[part]).includes(flag) ? fromResult(bootstrappedResult(bootstrap, flag)) : undefined,
    },
    read: (client) => fromClient(client, flag, { send_event: false }),
    seen: (client) => fromClient(client, flag),
  });
}

function bootstrappedResult({ featureFlags, featureFlagPayloads }: Bootstrap, key: string): FlagResult {
  const value = featureFlags?.[key];
  return {
    key,
    enabled: Boolean(value),
    variant: typeof value === 'string' ? value : undefined,
    payload: featureFlagPayloads?.[key],
  };
}

/** Where a hook has its value from. */
interface FlagSource<Value> {
  client: PostHog | undefined;
  /** What the page was given before the client knows any flags; nothing when it was given none. */
  bootstrapped: { value: Value | undefined } | null | undefined;
  /** What the client says, captured by nobody: React reads also for renders that it throws away. */
  read(client: PostHog): Value | undefined;
  /** Called for what is on the page when flags are known, and whenever they are loaded, with the keys of those that are on. */
  seen(client: PostHog, active: string[]): void;
}

/** As `useSyncExternalStore` takes them. */
type FlagStore<Value> = [
  subscribe: (changed: () => void) => () => void,
  getSnapshot: () => Value | undefined,
  getServerSnapshot: () => Value | undefined,
];

/** What one hook shows of a client's flags. */
function createFlagStore<Value>({ client, bootstrapped, read, seen }: FlagSource<Value>): FlagStore<Value> {
  let last: Value | undefined;

  function getSnapshot(): Value | undefined {
    const isEarly = bootstrapped && !client?.featureFlags?.hasLoadedFlags;
    // A client that has not started complains of every call but the subscription, which it keeps until then.
    const next = isEarly || client?.__loaded === false ? bootstrapped?.value : client && read(client);
    // Clients make results and payloads again; React compares by identity.
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
