// Hooks that read feature flags, and the store behind them. The store makes a component render again only if the value
// that it shows has changed.

import type { Bootstrap, FlagKey, FlagResult, FlagValue, JsonValue, ValueOf } from '@millrace/browser';
import { useContext, useMemo, useSyncExternalStore } from 'react';
import { type PostHog, PostHogContext } from './context.ts';
import { isDeepEqual } from './values.ts';

const enabled = /* @__PURE__ */ describeFlag({
  fromClient: (client, ...reading) => client.isFeatureEnabled(...reading),
  fromResult: (result) => result.enabled,
});

/** Returns whether the flag is on for this person, or `defaultValue` while the flag is not known. */
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
 * Returns the key of the person's variant, or `true` or `false` for a flag without variants. Returns undefined while
 * the flag is not known.
 */
export function useFeatureFlagVariantKey<Key extends FlagKey>(flag: Key): ValueOf<Key> | undefined {
  return useFlagStore(variantKey, flag) as ValueOf<Key> | undefined;
}

const payload = /* @__PURE__ */ describeFlag<JsonValue>({
  // Reading a payload does not capture a `$feature_flag_called` event, because it does not reveal which variant the
  // person saw.
  fromClient: (client, flag) => client.getFeatureFlagResult(flag, { send_event: false })?.payload,
  fromResult: (result) => result.payload,
  part: 'featureFlagPayloads',
});

/** Returns the payload for the person's flag value. Returns undefined if there is none or the flag is not known. */
export function useFeatureFlagPayload(flag: FlagKey): JsonValue | undefined {
  return useFlagStore(payload, flag);
}

const result = /* @__PURE__ */ describeFlag<FlagResult>({
  fromClient: (client, ...reading) => client.getFeatureFlagResult(...reading),
  fromResult: (bootstrapped) => bootstrapped,
});

/** Returns the value, variant and payload of a flag together. Returns undefined while the flag is not known. */
export function useFeatureFlagResult(flag: FlagKey): FlagResult | undefined {
  return useFlagStore(result, flag);
}

const none: string[] = [];

/** Returns the keys of all flags that are on for this person. */
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

/** Subscribes a component to one flag, or to all flags. The component renders again only when the value has changed. */
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

/** The arguments for reading a flag: its key, and an option if reading must not capture an event. */
type Reading = [flag: string, options?: { send_event: false }];

interface FlagView<Value> {
  fromClient(client: PostHog, ...reading: Reading): Value | undefined;
  /** Returns the same value for a flag from the bootstrap. */
  fromResult(result: FlagResult): Value | undefined;
  /** The part of the bootstrap in which the flag must be present. */
  part?: 'featureFlags' | 'featureFlagPayloads';
}

/** Describes how a hook reads one flag, from the bootstrap and from the client. */
function describeFlag<Value>({ fromClient, fromResult, part = 'featureFlags' }: FlagView<Value>) {
  return (bootstrap: Bootstrap | undefined, flag: string): Omit<FlagSource<Value>, 'client'> => ({
    bootstrapped: bootstrap?.[part] && {
      // Ignore properties that every object inherits, such as `constructor`.
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

/** The sources from which a hook gets its value. */
interface FlagSource<Value> {
  client: PostHog | undefined;
  /**
   * The value from the bootstrap, which is used until the client has loaded flags. Null or undefined if there is no
   * bootstrap.
   */
  bootstrapped: { value: Value | undefined } | null | undefined;
  /**
   * Reads the value without capturing an event, because React also renders components whose output it then discards.
   */
  read(client: PostHog): Value | undefined;
  /**
   * Called when flags are first known and after every load, for components that are on the page.
   * @param active keys of the active flags
   */
  seen(client: PostHog, active: string[]): void;
}

/** The arguments of `useSyncExternalStore`. */
type FlagStore<Value> = [
  subscribe: (changed: () => void) => () => void,
  getSnapshot: () => Value | undefined,
  getServerSnapshot: () => Value | undefined,
];

function createFlagStore<Value>({ client, bootstrapped, read, seen }: FlagSource<Value>): FlagStore<Value> {
  let last: Value | undefined;

  function getSnapshot(): Value | undefined {
    const isEarly = bootstrapped && !client?.featureFlags?.hasLoadedFlags;
    // A client that has not started logs a warning for every call except a subscription. It remembers subscriptions.
    const next = isEarly || client?.__loaded === false ? bootstrapped?.value : client && read(client);
    // Clients create a new object for each read, but React compares objects by identity.
    if (!isDeepEqual(last, next)) last = next;
    return last;
  }

  // React only subscribes components that are part of the page.
  function subscribe(changed: () => void): () => void {
    if (!client) return () => {};
    return client.onFeatureFlags((active) => {
      seen(client, active);
      changed();
    });
  }

  // The browser also uses this snapshot when it hydrates a page that a server rendered. The snapshot must equal that of
  // the server, which has no flags from the last visit.
  const getServerSnapshot = () => (bootstrapped || typeof window !== 'undefined' ? bootstrapped?.value : getSnapshot());

  return [subscribe, getSnapshot, getServerSnapshot];
}
