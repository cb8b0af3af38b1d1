// Reads flags, and captures an event for each value that is read for the first time.

import type { FlagMembers, FlagReadOptions, FlagResult } from '../client/client.ts';
import type { Core } from '../client/core.ts';
import type { FlagValue, JsonValue } from '../client/values.ts';
import { attempt } from '../page/globals.ts';
import { type FlagSnapshot, readOwn } from './flag-snapshot.ts';
import type { FlagState } from './flag-state.ts';

type ReadMembers = Pick<
  FlagMembers,
  'getFeatureFlag' | 'isFeatureEnabled' | 'getFeatureFlagPayload' | 'getFeatureFlagResult'
>;

/** Creates the methods that read a flag. They return undefined if no flags are known yet or the flag does not exist. */
export function createReadMembers(
  { log }: Core,
  { state, current, calls }: { state: FlagState; current: () => FlagSnapshot; calls: CallReport },
): ReadMembers {
  function read(key: string, { fresh, send_event = true }: FlagReadOptions = {}): FlagResult | undefined {
    if (fresh && !state.isFetched) return;
    const snapshot = current();
    if (!state.isLoaded && !Object.keys(snapshot.$enabled_feature_flags ?? {}).length) {
      return void log.debug(`Flag ${key} was read before flags were loaded`);
    }
    const value = readOwn(snapshot.$enabled_feature_flags, key);
    if (send_event) {
      calls.report({ key, value, snapshot, errors: state.errors(), isFetched: state.isFetched });
    }
    if (value === undefined) return;
    const variant = typeof value === 'string' ? value : undefined;
    return { key, enabled: !!value, variant, payload: parsed(readOwn(snapshot.$feature_flag_payloads, key)) };
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

/** Parses a payload if it is JSON. */
function parsed(payload: JsonValue): JsonValue {
  const json = typeof payload === 'string' ? attempt((): JsonValue => JSON.parse(payload)) : undefined;
  return json === undefined ? payload : json;
}

const reportedKey = '$flag_call_reported';

interface FlagCall {
  key: string;
  value: FlagValue | undefined;
  snapshot: FlagSnapshot;
  /** Errors of the last request because of which the value may be wrong, under PostHog's names. */
  errors: string[];
  /** Whether flags were fetched on this page. */
  isFetched: boolean;
}

/** Captures `$feature_flag_called` once for each value of a flag that a visitor got. */
export function createCallReport({ store, options, isCapturing, capture }: Core) {
  /** Keys of flags that were read while capturing was not allowed. */
  const held = new Set<string>();

  function report(call: FlagCall): void {
    const { key, value } = call;
    const reported = (store.get(reportedKey) ?? {}) as Record<string, string[]>;
    const values = [readOwn(reported, key) ?? []].flat();
    if (values.includes(String(value))) return;
    if (!isCapturing()) return void held.add(key);
    store.set({ [reportedKey]: { ...reported, [key]: [...values, String(value)] } });
    capture('$feature_flag_called', propertiesOf(call), { skip_client_rate_limiting: true });
  }

  function propertiesOf({ key, value, snapshot, errors, isFetched }: FlagCall) {
    const { reason, metadata } = readOwn(snapshot.$feature_flag_details, key) ?? {};
    const { featureFlags, featureFlagPayloads } = options.bootstrap;
    const faults = value === undefined ? [...errors, 'flag_missing'] : errors;
    return {
      $feature_flag: key,
      $feature_flag_response: value,
      $feature_flag_payload: readOwn(snapshot.$feature_flag_payloads, key) ?? null,
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
    /** Makes every read count as the first one, because the person has changed. */
    forget(): void {
      held.clear();
      store.remove(reportedKey);
    },
  };
}

export type CallReport = ReturnType<typeof createCallReport>;
