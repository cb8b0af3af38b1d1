import { addMembers, countCohortMembers, type MembersToAdd } from '@millrace/cohorts';
import type { Database } from '@millrace/db';
import { AppError } from '@millrace/errors';
import type { CohortRow } from '../cohort-row.ts';
import { setMemberCount } from '../cohort-store.ts';
import { type CohortAuthor, recordMemberActivity } from '../record-cohort-activity.ts';
import { foundCohort } from '../write-cohort.ts';
import { removeMember } from './member-store.ts';

const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** Those of the texts that can be uuids of persons: no other is known. */
function uuidsAmong(texts: readonly string[]): string[] {
  return [...new Set(texts.filter((text) => uuid.test(text)).map((text) => text.toLowerCase()))];
}

/**
 * Adds persons to a static cohort and counts its members. @returns the cohort as it is now, and how many of the values
 * named a person.
 */
export async function addCohortMembers(
  database: Pick<Database, 'transaction'>,
  author: CohortAuthor,
  { id, members }: { id: number; members: MembersToAdd },
): Promise<{ cohort: CohortRow; found: number }> {
  const { environmentId: projectId } = author.target;
  const values = members.by === 'person_id' ? uuidsAmong(members.values) : members.values;
  const found = await addMembers(database, { projectId, cohortId: id }, { ...members, values });
  return { cohort: await countMembers(database, author, id), found };
}

/** @throws AppError `not_found` when the person is not in it. */
export async function removeCohortMember(
  database: Pick<Database, 'transaction'>,
  author: CohortAuthor,
  { id, personUuid }: { id: number; personUuid: string },
): Promise<void> {
  const { environmentId: projectId } = author.target;
  const [known] = uuidsAmong([personUuid]);
  const isRemoved =
    known !== undefined && (await database.transaction((tx) => removeMember(tx, { projectId, cohortId: id }, known)));
  if (!isRemoved) throw new AppError('not_found', 'Not found.');
  await countMembers(database, author, id);
}

async function countMembers(
  { transaction }: Pick<Database, 'transaction'>,
  author: CohortAuthor,
  id: number,
): Promise<CohortRow> {
  const { environmentId: projectId } = author.target;
  return transaction(async (tx) => {
    const cohort = await foundCohort(tx, projectId, id);
    const after = await countCohortMembers(tx, { projectId, cohortId: id });
    await setMemberCount(tx, id, after);
    await recordMemberActivity(tx, author, { cohort, before: cohort.count ?? 0, after });
    return foundCohort(tx, projectId, id);
  });
}
