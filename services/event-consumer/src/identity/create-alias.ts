import type { IncomingEvent } from '../model/incoming-event.ts';
import type { MergeRequest } from './merge-request.ts';

/**
 * `$create_alias`: distinct_id is merged into the alias value, and the alias value becomes the main distinct id
 * (docs/ingestion-rules.md#merges), as it was ordered: the reference merges the other way round. Refused only when both
 * sides are identified: SDKs disagree about the order of the two arguments, so a merge that is sound in either
 * direction must go through.
 */
export function createAlias(event: IncomingEvent): MergeRequest | null {
  const alias = event.properties.alias;
  if (typeof alias !== 'string' || alias === '') return null;
  return { sourceId: event.distinctId, targetId: alias, refuseWhen: 'both_identified', alwaysSetsMainId: true };
}
