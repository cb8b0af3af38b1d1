// Adds persons to a static cohort.

import type { Database } from '@millrace/db';
import { findPersons, insertCohortMembers, type NamedPerson, type StaticCohort } from './store.ts';

/**
 * Number of members to add per transaction. The transaction must take only milliseconds, because it locks the persons,
 * and the consumer waits for these locks.
 */
const portion = 1000;
/** Maximum number of times to look up a person who is being merged into a different person. */
const maxRounds = 3;

export interface MembersToAdd {
  by: 'person_id' | 'distinct_id' | 'email';
  values: readonly string[];
}

/**
 * Adds persons to a static cohort, in one transaction per 1,000 members. If the call fails halfway, the caller can
 * repeat it. Ignores values that match no person.
 * @returns the number of persons that were found
 */
export async function addPersonsToCohort(
  { transaction }: Pick<Database, 'transaction'>,
  cohort: StaticCohort,
  { by, values }: MembersToAdd,
): Promise<number> {
  // Email addresses have no index, so scan all persons once.
  if (by === 'email') {
    const persons = await transaction((tx) => findPersons(tx, cohort.projectId, { by, values }));
    return addPersonsToCohort({ transaction }, cohort, { by: 'distinct_id', values: idsOf(persons) });
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
  const added = new Set<string>();
  let sought = members;
  for (let round = 1; round <= maxRounds && sought.values.length > 0; round += 1) {
    const missed = await transaction(async (tx) => {
      const named = await findPersons(tx, cohort.projectId, sought);
      const existing = new Set(
        await insertCohortMembers(
          tx,
          cohort,
          named.map(({ uuid }) => uuid),
        ),
      );
      for (const uuid of existing) added.add(uuid);
      return named.filter(({ uuid }) => !existing.has(uuid));
    });
    sought = { by: 'distinct_id', values: idsOf(missed) };
  }
  return added.size;
}

function idsOf(persons: readonly NamedPerson[]): string[] {
  return persons.map(({ distinctId }) => distinctId);
}
