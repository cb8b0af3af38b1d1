import type { Database } from '@millrace/db';
import { addCohortMembers, findPersonUuids, type StaticCohort } from './cohort-member-store.ts';

/** Members in one transaction: their persons are locked for the milliseconds it takes, as the consumer waits for them. */
const portion = 1000;
/** A person that was merged away meanwhile is looked for again under its ids; nobody is merged over and over. */
const maxRounds = 3;

export interface MembersToAdd {
  by: 'person_id' | 'distinct_id' | 'email';
  values: readonly string[];
}

/**
 * Adds persons to a static cohort in portions, each a transaction of its own; whatever dies in between, sending the same
 * again adds the rest. Values that name nobody are passed over. @returns how many persons were found.
 */
export async function addMembers(
  { transaction }: Pick<Database, 'transaction'>,
  cohort: StaticCohort,
  { by, values }: MembersToAdd,
): Promise<number> {
  // E-mail addresses have no index: all persons are looked at, once.
  if (by === 'email') {
    const uuids = await transaction((tx) => findPersonUuids(tx, cohort.projectId, { by, values }));
    return addMembers({ transaction }, cohort, { by: 'person_id', values: uuids });
  }
  let found = 0;
  for (let at = 0; at < values.length; at += portion) {
    found += await addPortion({ transaction }, cohort, { by, values: values.slice(at, at + portion) });
  }
  return found;
}

async function addPortion(
  { transaction }: Pick<Database, 'transaction'>,
  cohort: StaticCohort,
  members: MembersToAdd,
): Promise<number> {
  for (let round = 1; ; round += 1) {
    const { named, added } = await transaction(async (tx) => {
      const uuids = await findPersonUuids(tx, cohort.projectId, members);
      return { named: uuids.length, added: (await addCohortMembers(tx, cohort, uuids)).length };
    });
    if (added === named || round === maxRounds) return added;
  }
}
