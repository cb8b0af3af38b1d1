// Overrides feature flag values in one browser, for testing.

import type { FlagMembers, FlagOverrides } from '../client/client.ts';
import type { Core } from '../client/core.ts';
import type { FlagValue, JsonValue } from '../client/values.ts';
import type { FlagSnapshot } from './flag-snapshot.ts';

const valuesKey = '$override_feature_flags';
const payloadsKey = '$override_feature_flag_payloads';

type Values = Record<string, FlagValue>;

export function createOverrides(core: Core) {
  const { store, log } = core;
  let isSilent = false;
  core.addProperties(() => ({ [valuesKey]: store.get(valuesKey) }));

  function put(key: string, value: Values | Record<string, JsonValue> | string[] | boolean | undefined): void {
    if (Array.isArray(value)) store.set({ [key]: Object.fromEntries(value.map((flag) => [flag, true])) });
    else if (value) store.set({ [key]: value });
    else if (value === false) store.remove(key);
  }

  return {
    apply(known: FlagSnapshot): FlagSnapshot {
      const values = store.get(valuesKey) as Values | undefined;
      const payloads = store.get(payloadsKey) as Record<string, JsonValue> | undefined;
      if (!values && !payloads) return known;
      if (!isSilent) log.warn('Flags are overridden in this browser', values, payloads);
      isSilent = true;
      return {
        ...known,
        $enabled_feature_flags: { ...known.$enabled_feature_flags, ...values },
        $feature_flag_payloads: { ...known.$feature_flag_payloads, ...payloads },
      };
    },
    /** Creates the methods that set overrides. The argument false removes all overrides. */
    members(tell: () => void): Pick<FlagMembers['featureFlags'], 'override' | 'overrideFeatureFlags'> {
      const overrideFeatureFlags = (overrides: FlagOverrides | Values | string[] | boolean) => {
        const isWhole = typeof overrides === 'object' && ('flags' in overrides || 'payloads' in overrides);
        const all = (isWhole ? overrides : { flags: overrides, payloads: overrides && undefined }) as FlagOverrides;
        isSilent = !!all.suppressWarning;
        put(valuesKey, all.flags);
        put(payloadsKey, all.payloads);
        tell();
      };
      return {
        overrideFeatureFlags,
        override: (flags, suppressWarning) => overrideFeatureFlags({ flags, suppressWarning }),
      };
    },
  };
}

export type Overrides = ReturnType<typeof createOverrides>;
