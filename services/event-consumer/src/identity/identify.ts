import type { JsonObject } from '@millrace/contracts';
import type { IncomingEvent } from '../model/incoming-event.ts';
import type { MergeRequest } from './merge-request.ts';

/**
 * `$identify`: the anonymous id is merged into distinct_id, unless the anonymous id already belongs to an identified
 * person (docs/ingestion-rules.md#merges). Without `$anon_distinct_id` the event is a property update and merges
 * nothing (docs/ingestion-rules.md#what-an-event-name-does).
 */
export function identify(event: IncomingEvent): MergeRequest | null {
  const sourceId = anonymousId(event.properties);
  if (sourceId === null) return null;
  return { sourceId, targetId: event.distinctId, refuseWhen: 'source_identified', alwaysSetsMainId: false };
}

/** The key's presence counts: an explicit null reads as the text `null`, an illegal id, and so is reported. */
function anonymousId(properties: JsonObject): string | null {
  const id = properties.$anon_distinct_id;
  if (id === undefined) return null;
  return typeof id === 'string' ? id : 'null';
}
