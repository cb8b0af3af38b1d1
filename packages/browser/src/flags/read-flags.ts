// Reads flags, and captures an event when a flag value is read for the first time.

import type { FlagMembers, FlagReadOptions, FlagResult } from '../client/client.ts';
import type { Core } from '../client/core.ts';
import type { FlagValue, JsonValue } from '../client/values.ts';
import { attempt } from '../page/globals.ts';
import { type FlagSnapshot, readOwnProperty } from './flag-snapshot.ts';
import type { FlagState } from './flag-state.ts';

type ReadMembers = Pick<
  FlagMembers,
  'getFeatureFlag' | 'isFeatureEnabled' | 'getFeatureFlagPayload' | 'getFeatureFlagResult'
>;

/** Creates the methods that read a flag. They return undefined for unknown flags, or while no flags are known. */
export function createFlagReaders(
  { log }: Core,
  { state, current, calls }: { state: FlagState; current: () => FlagSnapshot; calls: CallReport },
): ReadMembers {
  function read(key: string, { fresh, send_event = true }: FlagReadOptions = {}): FlagResult | undefined {
    if (fresh && !state.isFetched) return;
    const snapshot = current();
    if (!state.isLoaded && !Object.keys(snapshot.$enabled_feature_flags ?? {}).length) {
      return void log.debug(`Flag ${key} was read before flags were loaded`);
    }
    const value = readOwnProperty(snapshot.$enabled_feature_flags, key);
    if (send_event) {
      calls.report({ key, value, snapshot, errors: state.errors(), isFetched: state.isFetched });
    }
    if (value === undefined) return;
    const variant = typeof value === 'string' ? value : undefined;
    return { key, enabled: !!value, variant, payload: parsed(readOwnProperty(snapshot.$feature_flag_payloads, key)) };
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

/** Parses a payload. Returns it unchanged if it is not valid JSON. */
function parsed(payload: JsonValue): JsonValue {
  const json = typeof payload === 'string' ? attempt((): JsonValue => JSON.parse(payload)) : undefined;
  return json === undefined ? payload : json;
}

const reportedKey = '$flag_call_reported';

interface FlagCall {
  key: string;
  value: FlagValue | undefined;
  snapshot: FlagSnapshot;
  /** PostHog's names of the errors in the last flag request that may have caused a wrong value. */
  errors: string[];
  isFetched: boolean;
}

/** Captures `$feature_flag_called` once for each flag value that a visitor receives. */
export function createFlagCallReporter({ store, options, isCapturing, capture }: Core) {
  /** Keys of flags that were read before the visitor allowed capturing. */
  const held = new Set<string>();

  function report(call: FlagCall): void {
    const { key, value } = call;
    const reported = (store.get(reportedKey) ?? {}) as Record<string, string[]>;
    const values = [readOwnProperty(reported, key) ?? []].flat();
    if (values.includes(String(value))) return;
    if (!isCapturing()) return void held.add(key);
    store.set({ [reportedKey]: { ...reported, [key]: [...values, String(value)] } });
    capture('$feature_flag_called', propertiesOf(call), { skip_client_rate_limiting: true });
  }

  function propertiesOf({ key, value, snapshot, errors, isFetched }: FlagCall) {
    const { reason, metadata } = readOwnProperty(snapshot.$feature_flag_details, key) ?? {};
    const { featureFlags, featureFlagPayloads } = options.bootstrap;
    const faults = value === undefined ? [...errors, 'flag_missing'] : errors;
    return {
      $feature_flag: key,
      $feature_flag_response: value,
      $feature_flag_payload: readOwnProperty(snapshot.$feature_flag_payloads, key) ?? null,
      $feature_flag_request_id: snapshot.$feature_flag_request_id,
      $feature_flag_evaluated_at: snapshot.$feature_flag_evaluated_at,
      $feature_flag_bootstrapped_response: featureFlags?.[key] ?? null,
      $feature_flag_bootstrapped_payload: featureFlagPayloads?.[key] ?? null,
      $used_bootstrap_value: !isFetched,
      $feature_flag_has_experiment: metadata?.has_experiment,
      $feature_flag_version: metadata?.version,
      $feature_flag_reason: reason?.description ?? reason?.code,
      $feature_flag_id: metadata?.id,
      $feature_flag_error: faults.join() || undefined,
    };
  }

  return {
    report,
    takeHeld(): string[] {
      const keys = [...held];
      held.clear();
      return keys;
    },
    /** Forgets which flag calls were captured, because the person has changed. */
    forget(): void {
      held.clear();
      store.remove(reportedKey);
    },
  };
}

export type CallReport = ReturnType<typeof createFlagCallReporter>;
