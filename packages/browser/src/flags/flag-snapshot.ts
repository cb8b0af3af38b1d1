import type { FlagValue, JsonValue } from '../client/values.ts';

/** What the service says of one flag, as `/flags/?v=2` answers it and as it is stored. */
export interface FlagDetail {
  key: string;
  enabled: boolean;
  variant?: string | null | undefined;
  reason?: { code?: string; description?: string } | null;
  metadata?: { id?: number; version?: number; has_experiment?: boolean; payload?: JsonValue } | null;
  /** Could not be evaluated now. */
  failed?: boolean;
}

export interface FlagsDocument {
  flags?: Record<string, FlagDetail>;
  errorsWhileComputingFlags?: boolean;
  quotaLimited?: string[];
  requestId?: string;
  evaluatedAt?: number;
}

/** What is known of a visitor's flags, under the stored names of PostHog's library: a site that switches keeps it. */
export interface FlagSnapshot {
  $enabled_feature_flags?: Record<string, FlagValue>;
  $active_feature_flags?: string[];
  /** Of enabled flags; JSON as text when they come from the service. */
  $feature_flag_payloads?: Record<string, JsonValue>;
  $feature_flag_details?: Record<string, FlagDetail>;
  $feature_flag_request_id?: string | undefined;
  $feature_flag_evaluated_at?: number | undefined;
}

/** Only what was put there: a flag may be called `constructor`. */
export function own<Value>(values: Record<string, Value> | undefined, key: string): Value | undefined {
  return Object.getOwnPropertyDescriptor(values ?? {}, key)?.value;
}

/** The flags that are on, or have a variant. */
export function activeOf(values: Record<string, FlagValue> = {}): Record<string, FlagValue> {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value));
}

/** Values from elsewhere than the service, as if it had said them. */
export function documentOf(
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
 * What is known after an answer: all of it is replaced. Where some flags could not be evaluated, those keep what was known
 * of them, and so do flags that are not spoken of. An answer that says nothing of flags changes nothing.
 */
export function snapshotAfter(
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
    $active_feature_flags: Object.keys(activeOf(values)),
    $feature_flag_payloads: payloads,
    $feature_flag_details: details,
    $feature_flag_request_id: requestId ?? known.$feature_flag_request_id,
    $feature_flag_evaluated_at: evaluatedAt ?? known.$feature_flag_evaluated_at,
  };
}
