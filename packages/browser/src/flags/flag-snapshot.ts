import type { FlagValue, JsonValue } from '../client/values.ts';

/** A flag in the format of a `/flags/?v=2` response, which is also its stored format. */
export interface FlagDetail {
  key: string;
  enabled: boolean;
  variant?: string | null | undefined;
  reason?: { code?: string; description?: string } | null;
  metadata?: { id?: number; version?: number; has_experiment?: boolean; payload?: JsonValue } | null;
  /** True if the flag could not be evaluated. */
  failed?: boolean;
}

export interface FlagsDocument {
  flags?: Record<string, FlagDetail>;
  errorsWhileComputingFlags?: boolean;
  quotaLimited?: string[];
  requestId?: string;
  evaluatedAt?: number;
}

/**
 * A visitor's known flags. The stored names are the same as in PostHog's library, so that sites that switch to Millrace
 * keep their data.
 */
export interface FlagSnapshot {
  $enabled_feature_flags?: Record<string, FlagValue>;
  $active_feature_flags?: string[];
  /** Payloads of enabled flags. The service sends each payload as a JSON string. */
  $feature_flag_payloads?: Record<string, JsonValue>;
  $feature_flag_details?: Record<string, FlagDetail>;
  $feature_flag_request_id?: string | undefined;
  $feature_flag_evaluated_at?: number | undefined;
}

/** Returns an own property. Inherited properties are ignored, because a flag may be named `constructor`. */
export function readOwnProperty<Value>(values: Record<string, Value> | undefined, key: string): Value | undefined {
  return Object.getOwnPropertyDescriptor(values ?? {}, key)?.value;
}

/** Returns the flags that are on, including those with a variant. */
export function selectEnabledFlags(values: Record<string, FlagValue> = {}): Record<string, FlagValue> {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value));
}

/** Converts flag values that do not come from the service to the format of a service response. */
export function createFlagsDocument(
  values: Record<string, FlagValue>,
  payloads: Record<string, JsonValue> | null | undefined,
  errorsWhileComputingFlags = false,
): FlagsDocument {
  const flags = Object.entries(values).map(([key, value]) => {
    const variant = typeof value === 'string' ? value : undefined;
    return [key, { key, enabled: !!value, variant, metadata: { payload: payloads?.[key] } }];
  });
  return { flags: Object.fromEntries(flags), errorsWhileComputingFlags };
}

/**
 * Returns the known flags after a response. Normally, the response replaces all flags. If some flags could not be
 * evaluated, these flags and the flags missing from the response keep their previous values. A response without flags
 * changes nothing.
 */
export function updateFlagSnapshot(
  { flags, errorsWhileComputingFlags: isPartial, requestId, evaluatedAt }: FlagsDocument,
  known: FlagSnapshot,
): FlagSnapshot {
  if (!flags) return known;
  const base = isPartial ? known : {};
  const values = { ...base.$enabled_feature_flags };
  const payloads = { ...base.$feature_flag_payloads };
  const details = { ...base.$feature_flag_details };
  for (const [key, flag] of Object.entries(flags)) {
    if (!flag || (isPartial && flag.failed)) continue;
    values[key] = flag.variant ?? flag.enabled;
    details[key] = flag;
    delete payloads[key];
    const payload = flag.metadata?.payload;
    if (flag.enabled && payload !== undefined) payloads[key] = payload;
  }
  return {
    $enabled_feature_flags: values,
    $active_feature_flags: Object.keys(selectEnabledFlags(values)),
    $feature_flag_payloads: payloads,
    $feature_flag_details: details,
    $feature_flag_request_id: requestId ?? known.$feature_flag_request_id,
    $feature_flag_evaluated_at: evaluatedAt ?? known.$feature_flag_evaluated_at,
  };
}
