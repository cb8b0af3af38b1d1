import { eventNames, type JsonObject } from '@millrace/contracts';
import type { IncomingEvent } from '../model/event.ts';

/**
 * Determines which two distinct IDs an event merges. rules/merge.ts plans and performs the merge.
 *
 * | Event | Merged away | Survives | Rejected if |
 * |---|---|---|---|
 * | `$identify` | $anon_distinct_id | distinct_id | $anon_distinct_id is identified |
 * | `$create_alias` | distinct_id | alias | both are identified |
 * | `$merge_dangerously` | alias | distinct_id | never |
 */
const identityRules = new Map<string, (event: IncomingEvent) => MergeRequest | null>([
  [eventNames.identify, identify],
  [eventNames.createAlias, createAlias],
  [eventNames.mergeDangerously, mergeDangerously],
]);

/** Returns whether an event is one of the three merge events, which require person processing. */
export function isMergeEvent(name: string): boolean {
  return identityRules.has(name);
}

export function readMergeRequest(event: IncomingEvent): MergeRequest | null {
  return identityRules.get(event.event)?.(event) ?? null;
}

/**
 * A request to merge the persons of two distinct IDs. If both IDs have a person, the person of `targetId` survives, its
 * properties take precedence, and `targetId` becomes the main ID.
 */
export interface MergeRequest {
  sourceId: string;
  targetId: string;
  /** Which identified persons prevent the merge. A person is identified if an earlier merge event named it. */
  refuseWhen: RefuseWhen;
  /** Whether the target becomes the main ID even if both IDs already belong to the same person. */
  alwaysSetsMainId: boolean;
}

export type RefuseWhen = 'source_identified' | 'both_identified' | 'never';

/**
 * Handles `$identify`, which merges the anonymous ID into distinct_id, unless the anonymous ID already has an
 * identified person (docs/ingestion-rules.md#merges). Without `$anon_distinct_id`, the event only updates properties
 * (docs/ingestion-rules.md#effects-of-event-names).
 */
function identify(event: IncomingEvent): MergeRequest | null {
  const sourceId = anonymousId(event.properties);
  if (sourceId === null) return null;
  return { sourceId, targetId: event.distinctId, refuseWhen: 'source_identified', alwaysSetsMainId: false };
}

/**
 * Returns the anonymous ID, or null if the event has no such key. An explicit null becomes the string `null`, which is
 * an illegal ID, so that a warning is stored.
 */
function anonymousId(properties: JsonObject): string | null {
  const id = properties.$anon_distinct_id;
  if (id === undefined) return null;
  return readOtherId(id) ?? 'null';
}

/**
 * Returns the second ID of a merge as a string. Converts numbers in the same way as for `distinct_id`. Returns null for
 * invalid values. The gateway quotes integers that JavaScript would round, so an unquoted large integer may already be
 * rounded here, and could merge different persons.
 */
export function readOtherId(value: unknown): string | null {
  if (typeof value === 'string') return value;
  if (typeof value !== 'number' || (Number.isInteger(value) && !Number.isSafeInteger(value))) return null;
  return JSON.stringify(value);
}

/**
 * Handles `$create_alias`, which merges distinct_id into the alias. The alias becomes the main distinct ID
 * (docs/ingestion-rules.md#merges). PostHog merges in the opposite direction. The merge is rejected only if both IDs
 * are identified. SDKs disagree about the order of the two arguments, so a merge that is valid in either direction must
 * succeed.
 */
function createAlias(event: IncomingEvent): MergeRequest | null {
  const alias = readOtherId(event.properties.alias);
  if (alias === null || alias === '') return null;
  return { sourceId: event.distinctId, targetId: alias, refuseWhen: 'both_identified', alwaysSetsMainId: true };
}

/**
 * Handles `$merge_dangerously`, which merges the alias into distinct_id, even if both IDs are identified. Only illegal
 * IDs prevent the merge (docs/ingestion-rules.md#merges). The event is meant for manual repairs.
 */
function mergeDangerously(event: IncomingEvent): MergeRequest | null {
  const alias = readOtherId(event.properties.alias);
  if (alias === null || alias === '') return null;
  return { sourceId: alias, targetId: event.distinctId, refuseWhen: 'never', alwaysSetsMainId: false };
}
