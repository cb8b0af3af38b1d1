import type { Bootstrap, FlagResult } from '@millrace/browser';
import type { PostHog } from '../context/posthog.ts';
import type { FlagSource } from './flag-store.ts';

/** The flag, and for a reading that the client does not capture, that. */
type Reading = [flag: string, options?: { send_event: false }];

interface FlagView<Value> {
  fromClient(client: PostHog, ...reading: Reading): Value | undefined;
  /** Of what the bootstrap says. */
  fromResult(result: FlagResult): Value | undefined;
  /** The part of the bootstrap that has to name the flag. */
  part?: 'featureFlags' | 'featureFlagPayloads';
}

/** How a hook shows one flag. */
export function describeFlag<Value>({ fromClient, fromResult, part = 'featureFlags' }: FlagView<Value>) {
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
