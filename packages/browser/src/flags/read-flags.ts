import type { FlagMembers, FlagReadOptions, FlagResult } from '../client/client.ts';
import type { Core } from '../client/core.ts';
import type { FlagValue, JsonValue } from '../client/values.ts';
import { attempt } from '../page/globals.ts';
import { type FlagSnapshot, own } from './flag-snapshot.ts';
import type { FlagState } from './flag-state.ts';
import type { CallReport } from './report-flag-call.ts';

type ReadMembers = Pick<
  FlagMembers,
  'getFeatureFlag' | 'isFeatureEnabled' | 'getFeatureFlagPayload' | 'getFeatureFlagResult'
>;

/** The ways to read a flag. Undefined: no flags are known yet, or none of this name. */
export function createReadMembers(
  { log }: Core,
  { state, current, calls }: { state: FlagState; current: () => FlagSnapshot; calls: CallReport },
): ReadMembers {
  function read(key: string, { fresh, send_event = true }: FlagReadOptions = {}): FlagResult | undefined {
    if (fresh && !state.isFetched) return;
    const snapshot = current();
    if (!state.isLoaded && !Object.keys(snapshot.$enabled_feature_flags ?? {}).length) {
      return void log.debug(`Flag ${key} was read before flags were known`);
    }
    const value = own(snapshot.$enabled_feature_flags, key);
    if (send_event) {
      calls.report({ key, value, snapshot, errors: state.errors(), isFetched: state.isFetched });
    }
    if (value === undefined) return;
    const variant = typeof value === 'string' ? value : undefined;
    return { key, enabled: !!value, variant, payload: parsed(own(snapshot.$feature_flag_payloads, key)) };
  }

  const readValue = (key: string, options?: FlagReadOptions): FlagValue | undefined => {
    const result = read(key, options);
    return result?.variant ?? result?.enabled;
  };

  const isOn = (key: string, options?: FlagReadOptions & { defaultValue?: boolean }) =>
    read(key, options)?.enabled ?? options?.defaultValue;

  return {
    getFeatureFlagResult: read,
    getFeatureFlag: readValue as FlagMembers['getFeatureFlag'],
    isFeatureEnabled: isOn as FlagMembers['isFeatureEnabled'],
    getFeatureFlagPayload: (key) => read(key, { send_event: false })?.payload,
  };
}

/** JSON where it is JSON. */
function parsed(payload: JsonValue): JsonValue {
  const json = typeof payload === 'string' ? attempt((): JsonValue => JSON.parse(payload)) : undefined;
  return json === undefined ? payload : json;
}
