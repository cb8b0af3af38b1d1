import type { IncomingEvent } from '../model/incoming-event.ts';
import type { MergeRequest } from './merge-request.ts';

/**
 * `$merge_dangerously`: the alias is merged into distinct_id, whoever is identified; only illegal ids stop it
 * (docs/ingestion-rules.md#merges). Meant for repairs by hand.
 */
export function mergeDangerously(event: IncomingEvent): MergeRequest | null {
  const alias = event.properties.alias;
  if (typeof alias !== 'string' || alias === '') return null;
  return { sourceId: alias, targetId: event.distinctId, refuseWhen: 'never', alwaysSetsMainId: false };
}
