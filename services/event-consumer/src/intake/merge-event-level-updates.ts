import type { CapturedEvent, JsonObject } from '@millrace/contracts';
import { unsetKeys } from '../identity/unset-keys.ts';
import { objectOrEmpty, overlaid } from './json-object.ts';

/**
 * A copy of an event's properties that also holds what the client wrote beside them: `$set` and `$set_once` key by key
 * with the event level winning, `$unset` as the union (reference/event-processing.md 6.1).
 */
export function mergeEventLevelUpdates(captured: CapturedEvent): JsonObject {
  const properties = { ...captured.properties };
  if (captured.$set !== undefined) properties.$set = overlaid(objectOrEmpty(properties.$set), captured.$set);
  if (captured.$set_once !== undefined) {
    properties.$set_once = overlaid(objectOrEmpty(properties.$set_once), captured.$set_once);
  }
  if (captured.$unset !== undefined) {
    properties.$unset = [...new Set([...unsetKeys(properties.$unset), ...unsetKeys(captured.$unset)])];
  }
  return properties;
}
