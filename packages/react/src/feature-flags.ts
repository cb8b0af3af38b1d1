// Hooks that read feature flags, and the store that they use. The store renders a component again only if the displayed
// value has changed.

import type { Bootstrap, FlagKey, FlagResult, FlagValue, JsonValue, ValueOf } from '@millrace/browser';
import { useContext, useMemo, useSyncExternalStore } from 'react';
import { type PostHog, PostHogContext } from './context.ts';
import { isDeepEqual } from './values.ts';

const enabled = /* @__PURE__ */ describeFlag({
  fromClient: (client, ...reading) => client.isFeatureEnabled(...reading),
  fromResult: (result) => result.enabled,
});

/** Returns whether the flag is on for this person, or `defaultValue` if the flag is not known yet. */
export function useFeatureFlagEnabled(flag: FlagKey): boolean | undefined;
export function useFeatureFlagEnabled(flag: FlagKey, defaultValue: boolean): boolean;
export function useFeatureFlagEnabled(flag: FlagKey, defaultValue?: boolean): boolean | undefined {
  return useFlagStore(enabled, flag) ?? defaultValue;
}

const variantKey = /* @__PURE__ */ describeFlag<FlagValue>({
  fromClient: (client, ...reading) => client.getFeatureFlag(...reading),
  fromResult: (result) => result.variant ?? result.enabled,
});

/**
 * Returns the person's variant key. For a flag without variants, returns `true` or `false`. Returns undefined if the
 * flag is not known yet.
 */
export function useFeatureFlagVariantKey<Key extends FlagKey>(flag: Key): ValueOf<Key> | undefined {
  return useFlagStore(variantKey, flag) as ValueOf<Key> | undefined;
}

const payload = /* @__PURE__ */ describeFlag<JsonValue>({
  // Reading a payload does not capture a `$feature_flag_called` event, because the payload does not show which variant
  // the person saw.
  fromClient: (client, flag) => client.getFeatureFlagResult(flag, { send_event: false })?.payload,
  fromResult: (result) => result.payload,
  part: 'featureFlagPayloads',
});

/**
 * Returns the payload for the person's flag value. Returns undefined if the flag has no payload or is not known yet.
 */
export function useFeatureFlagPayload(flag: FlagKey): JsonValue | undefined {
  return useFlagStore(payload, flag);
}

const result = /* @__PURE__ */ describeFlag<FlagResult>({
  fromClient: (client, ...reading) => client.getFeatureFlagResult(...reading),
  fromResult: (bootstrapped) => bootstrapped,
});

/** Returns a flag's value, variant and payload together. Returns undefined if the flag is not known yet. */
export function useFeatureFlagResult(flag: FlagKey): FlagResult | undefined {
  return useFlagStore(result, flag);
}

const none: string[] = [];

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

/**
 * Subscribes a component to one flag or to all flags. The component is rendered again only when the value has changed.
 */
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

/** The arguments for reading a flag. `send_event: false` prevents capturing an event. */
type Reading = [flag: string, options?: { send_event: false }];

interface FlagView<Value> {
  fromClient(client: PostHog, ...reading: Reading): Value | undefined;
  fromResult(result: FlagResult): Value | undefined;
  /** The bootstrap field in which to look up the flag. */
  part?: 'featureFlags' | 'featureFlagPayloads';
}

function describeFlag<Value>({ fromClient, fromResult, part = 'featureFlags' }: FlagView<Value>) {
  return (bootstrap: Bootstrap | undefined, flag: string): Omit<FlagSource<Value>, 'client'> => ({
    bootstrapped: bootstrap?.[part] && {
      // Ignore inherited properties of the bootstrap object, such as `constructor`.
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

interface FlagSource<Value> {
  client: PostHog | undefined;
  /** The value from the bootstrap, used until flags are loaded. Null or undefined if there is no bootstrap. */
  bootstrapped: { value: Value | undefined } | null | undefined;
  /** Reads the value without capturing an event, because React may discard the rendered output. */
  read(client: PostHog): Value | undefined;
  /**
   * Called for mounted components when flags are first known, and after each time the client loads flags.
   * @param active the keys of all flags that are on
   */
  seen(client: PostHog, active: string[]): void;
}

type FlagStore<Value> = [
  subscribe: (changed: () => void) => () => void,
  getSnapshot: () => Value | undefined,
  getServerSnapshot: () => Value | undefined,
];

function createFlagStore<Value>({ client, bootstrapped, read, seen }: FlagSource<Value>): FlagStore<Value> {
  let last: Value | undefined;

  function getSnapshot(): Value | undefined {
    const isEarly = bootstrapped && !client?.featureFlags?.hasLoadedFlags;
    // A client that has not started accepts subscriptions, but logs a warning for every other call.
    const next = isEarly || client?.__loaded === false ? bootstrapped?.value : client && read(client);
    // React compares objects by identity, but clients create a new object for each read.
    if (!isDeepEqual(last, next)) last = next;
    return last;
  }

  // React subscribes only mounted components.
  function subscribe(changed: () => void): () => void {
    if (!client) return () => {};
    return client.onFeatureFlags((active) => {
      seen(client, active);
      changed();
    });
  }

  // React also uses this snapshot in the browser, to hydrate a page that a server has rendered. It must therefore equal
  // the server's snapshot, which does not contain flags that the browser stored during an earlier visit.
  const getServerSnapshot = () => (bootstrapped || typeof window !== 'undefined' ? bootstrapped?.value : getSnapshot());

  return [subscribe, getSnapshot, getServerSnapshot];
}
