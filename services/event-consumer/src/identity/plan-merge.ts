import type { RefuseWhen } from './merge-request.ts';

/** What the plan has to know of a person. */
export interface PersonFacts {
  uuid: string;
  isIdentified: boolean;
}

/** What becomes of the two distinct ids of a merge. */
export type MergePlan<Person extends PersonFacts> =
  /** Neither belongs to anybody: one new person with both ids. */
  | { action: 'create' }
  /** Only the target has a person: the source id is added to it. */
  | { action: 'attach_source'; person: Person }
  /** Only the source has a person: the target id is added to it. Its uuid stays. */
  | { action: 'attach_target'; person: Person }
  /** Both belong to this person already. */
  | { action: 'already_one'; person: Person }
  /** The source is merged into the target and disappears. */
  | { action: 'merge'; source: Person; target: Person }
  /** Both persons stay. */
  | { action: 'refuse'; target: Person };

/**
 * The truth table of merges (docs/ingestion-rules.md#merges). `null` means the id belongs to nobody. Only a
 * merge of two persons can be refused; adding an id to a person asks nobody.
 */
export function planMerge<Person extends PersonFacts>(
  source: Person | null,
  target: Person | null,
  refuseWhen: RefuseWhen,
): MergePlan<Person> {
  if (source === null) return target === null ? { action: 'create' } : { action: 'attach_source', person: target };
  if (target === null) return { action: 'attach_target', person: source };
  if (source.uuid === target.uuid) return { action: 'already_one', person: target };
  return isRefused(source, target, refuseWhen) ? { action: 'refuse', target } : { action: 'merge', source, target };
}

function isRefused(source: PersonFacts, target: PersonFacts, refuseWhen: RefuseWhen): boolean {
  switch (refuseWhen) {
    case 'source_identified':
      return source.isIdentified;
    case 'both_identified':
      return source.isIdentified && target.isIdentified;
    case 'never':
      return false;
  }
}
