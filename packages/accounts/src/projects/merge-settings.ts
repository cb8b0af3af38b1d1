import { isObject } from '@millrace/contracts';

/**
 * What the sent settings mean for what is stored (docs/api-rules.md#settings): `session_replay_config` is merged,
 * objects in it key by key; `survey_config` is merged; everything else replaces. Null clears.
 */
export function mergeSettings(stored: Record<string, unknown>, sent: Record<string, unknown>): Record<string, unknown> {
  const merged = { ...sent };
  for (const [field, depth] of [
    ['session_replay_config', 2],
    ['survey_config', 1],
  ] as const) {
    if (Object.hasOwn(sent, field)) merged[field] = merge(stored[field], sent[field], depth);
  }
  return merged;
}

function merge(stored: unknown, sent: unknown, depth: number): unknown {
  if (depth === 0 || !isObject(stored) || !isObject(sent)) return sent;
  const merged = { ...stored };
  for (const [key, value] of Object.entries(sent)) merged[key] = merge(stored[key], value, depth - 1);
  return merged;
}
