import { eventNames } from '@millrace/contracts';
import type { IncomingEvent } from '../model/incoming-event.ts';
import { createAlias } from './create-alias.ts';
import { identify } from './identify.ts';
import { mergeDangerously } from './merge-dangerously.ts';
import type { MergeRequest } from './merge-request.ts';

/**
 * Which event makes which two distinct ids one person. What happens then is decided by `plan-merge.ts` and done by
 * `apply-merge.ts`.
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
