import type { CapturedEvent, JsonObject } from '@millrace/contracts';
import { unsetKeys } from '../identity/unset-keys.ts';
import { objectOrEmpty, overlaid } from '../values/json-object.ts';

/**
 * What the client wrote beside an event's properties, as an overlay of them: `$set` and `$set_once` key by key with the
 * event level winning, `$unset` as the union (docs/ingestion-rules.md#before-the-rules).
 */
export function eventLevelUpdates(
  { $set, $set_once, $unset }: Pick<CapturedEvent, '$set' | '$set_once' | '$unset'>,
  properties: JsonObject,
): JsonObject {
  const updates: JsonObject = {};
  if ($set !== undefined) updates.$set = overlaid(objectOrEmpty(properties.$set), $set);
  if ($set_once !== undefined) updates.$set_once = overlaid(objectOrEmpty(properties.$set_once), $set_once);
  if ($unset !== undefined) {
    updates.$unset = [...new Set([...unsetKeys(properties.$unset), ...unsetKeys($unset)])];
  }
  return updates;
}
