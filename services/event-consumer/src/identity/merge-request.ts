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
