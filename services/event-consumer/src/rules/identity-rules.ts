import { eventNames, type JsonObject } from '@millrace/contracts';
import type { IncomingEvent } from '../model/event.ts';

/**
 * Which event makes which two distinct ids one person. What happens then is decided by `rules/merge.ts` and done by
 * `rules/merge.ts`.
 *
 * | Event                | merged away        | survives    | refused when                |
 * |----------------------|--------------------|-------------|-----------------------------|
 * | `$identify`          | $anon_distinct_id  | distinct_id | $anon_distinct_id identified |
 * | `$create_alias`      | distinct_id        | alias       | both identified             |
 * | `$merge_dangerously` | alias              | distinct_id | never                       |
 */
const identityRules = new Map<string, (event: IncomingEvent) => MergeRequest | null>([
  [eventNames.identify, identify],
  [eventNames.createAlias, createAlias],
  [eventNames.mergeDangerously, mergeDangerously],
]);

/** True for the three events whose meaning is a merge. They make no sense without persons. */
export function isMergeEvent(name: string): boolean {
  return identityRules.has(name);
}

/** The merge an event asks for, or null when it asks for none. */
export function mergeRequest(event: IncomingEvent): MergeRequest | null {
  return identityRules.get(event.event)?.(event) ?? null;
}

/**
 * What an event asks the ledger to do with two distinct ids: make them one person. `targetId` names the side that
 * survives when both have a person, wins conflicts of properties and becomes the person's main id.
 */
export interface MergeRequest {
  sourceId: string;
  targetId: string;
  /** Which already identified persons stop the merge. Identified means: was named by a merge event before. */
  refuseWhen: RefuseWhen;
  /** True when the target becomes the main id even if both ids already belong to one person. */
  alwaysSetsMainId: boolean;
}

export type RefuseWhen = 'source_identified' | 'both_identified' | 'never';

/**
 * `$identify`: the anonymous id is merged into distinct_id, unless the anonymous id already belongs to an identified
 * person (docs/ingestion-rules.md#merges). Without `$anon_distinct_id` the event is a property update and merges
 * nothing (docs/ingestion-rules.md#effects-of-event-names).
 */
function identify(event: IncomingEvent): MergeRequest | null {
  const sourceId = anonymousId(event.properties);
  if (sourceId === null) return null;
  return { sourceId, targetId: event.distinctId, refuseWhen: 'source_identified', alwaysSetsMainId: false };
}

/** The key's presence counts: an explicit null reads as the text `null`, an illegal id, and so is reported. */
function anonymousId(properties: JsonObject): string | null {
  const id = properties.$anon_distinct_id;
  if (id === undefined) return null;
  return otherId(id) ?? 'null';
}

/**
 * The other id of a merge as text, numbers included, as they are in `distinct_id`. Null for a value that names no person. The
 * gateway puts longer integers into quotes; one that arrives here may be rounded, and would merge strangers.
 */
export function otherId(value: unknown): string | null {
  if (typeof value === 'string') return value;
  if (typeof value !== 'number' || (Number.isInteger(value) && !Number.isSafeInteger(value))) return null;
  return JSON.stringify(value);
}

/**
 * `$create_alias`: distinct_id is merged into the alias value, and the alias value becomes the main distinct id
 * (docs/ingestion-rules.md#merges): PostHog merges the other way round. Refused only when both
 * sides are identified: SDKs disagree about the order of the two arguments, so a merge that is sound in either
 * direction must go through.
 */
function createAlias(event: IncomingEvent): MergeRequest | null {
  const alias = otherId(event.properties.alias);
  if (alias === null || alias === '') return null;
  return { sourceId: event.distinctId, targetId: alias, refuseWhen: 'both_identified', alwaysSetsMainId: true };
}

/**
 * `$merge_dangerously`: the alias is merged into distinct_id, whoever is identified; only illegal ids stop it
 * (docs/ingestion-rules.md#merges). Meant for repairs by hand.
 */
function mergeDangerously(event: IncomingEvent): MergeRequest | null {
  const alias = otherId(event.properties.alias);
  if (alias === null || alias === '') return null;
  return { sourceId: alias, targetId: event.distinctId, refuseWhen: 'never', alwaysSetsMainId: false };
}
