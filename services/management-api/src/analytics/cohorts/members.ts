// Adds persons to static cohorts and removes persons from them. A static cohort is a fixed list of persons.

import type { Database } from '@millrace/db';
import { addPersonsToCohort, countStaticCohortMembers, type MembersToAdd } from '@millrace/flags/cohorts';
import { AppError } from '@millrace/runtime';
import { Type } from 'typebox';
import { environmentBasePaths } from '../../access/addressed-project.ts';
import type { AddressedProject } from '../../access/addressed-store.ts';
import { defineRoutes } from '../../access/define-route.ts';
import { deleteCohortMember } from './member-store.ts';
import { cohortParams, cohortsPath, cohortTags as tags } from './schema.ts';
import { type CohortRow, saveCohortCount } from './store.ts';
import { type CohortAuthor, recordMemberActivity, requireCohort } from './write.ts';

const done = {
  200: {
    description: 'The members were updated.',
    schema: Type.Object({ success: Type.Boolean({ description: 'Always true.' }) }, { title: 'Success' }),
  },
};

const ids = (description: string) => Type.Array(Type.String(), { maxItems: 10_000, description });

export function memberRoutes(database: Pick<Database, 'sql' | 'transaction'>) {
  const { sql } = database;
  const below = environmentBasePaths(sql);

  async function requireStatic(target: AddressedProject, id: number, otherwise: string): Promise<void> {
    const cohort = await requireCohort(sql, target, { id, needed: 'editor' });
    if (!cohort.is_static) throw new AppError('invalid', otherwise, { code: 'invalid_input' });
  }

  return [
    ...defineRoutes({
      method: 'PATCH',
      below,
      path: `${cohortsPath}/:id/add_persons_to_static_cohort`,
      operationId: 'cohorts_add_persons',
      summary: 'Add persons to a static cohort',
      description:
        'Adds persons by UUID or by distinct ID. Unknown persons and persons who are already in the cohort are skipped. ' +
        'If `distinct_ids` is sent, `person_ids` is ignored.',
      tags,
      scope: 'cohort:write',
      params: cohortParams,
      body: Type.Object(
        {
          person_ids: Type.Optional(ids('UUIDs of the persons to add.')),
          distinct_ids: Type.Optional(ids('Distinct IDs of the persons to add, instead of their UUIDs.')),
        },
        { title: 'CohortMembersToAdd' },
      ),
      responses: done,
      examples: {
        request: { person_ids: ['0193f0c5-7a4e-5000-8000-000000000042'] },
        response: { success: true },
      },
      handler: async ({ caller: { userId }, target: place, params: { id }, body }) => {
        const { person_ids: uuids, distinct_ids: distinctIds } = body;
        const [attr, values] = distinctIds === undefined ? ['person_ids', uuids] : ['distinct_ids', distinctIds];
        if (values === undefined) throw new AppError('invalid', 'This field is required.', { code: 'required', attr });
        await requireStatic(place, id, 'Can only add users to static cohorts');
        const refuse = (detail: string) => new AppError('invalid', detail, { code: 'invalid_input', attr });
        if (values.length === 0) throw refuse(`${attr} cannot be empty`);
        const members = { by: distinctIds === undefined ? ('person_id' as const) : ('distinct_id' as const), values };
        const { found } = await addCohortMembers(database, { userId, target: place }, { id, members });
        if (found === 0) throw refuse('No valid users to add to cohort');
        return { success: true };
      },
    }),
    ...defineRoutes({
      method: 'PATCH',
      below,
      path: `${cohortsPath}/:id/remove_person_from_static_cohort`,
      operationId: 'cohorts_remove_person',
      summary: 'Remove a person from a static cohort',
      description: 'Removes one person from the cohort.',
      tags,
      scope: 'cohort:write',
      params: cohortParams,
      body: Type.Object(
        { person_id: Type.String({ minLength: 1, description: 'UUID of the person.' }) },
        { title: 'CohortMemberToRemove' },
      ),
      responses: done,
      examples: {
        request: { person_id: '0193f0c5-7a4e-5000-8000-000000000042' },
        response: { success: true },
      },
      handler: async ({ caller: { userId }, target: place, params: { id }, body: { person_id: personUuid } }) => {
        await requireStatic(place, id, 'Can only remove users from static cohorts');
        await removeCohortMember(database, { userId, target: place }, { id, personUuid });
        return { success: true };
      },
    }),
  ];
}

const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

function uuidsAmong(texts: readonly string[]): string[] {
  return [...new Set(texts.filter((text) => uuid.test(text)).map((text) => text.toLowerCase()))];
}

/**
 * Adds persons to a static cohort and counts its members.
 * @returns the updated cohort, and how many of the given values identify a person
 */
export async function addCohortMembers(
  database: Pick<Database, 'transaction'>,
  author: CohortAuthor,
  { id, members }: { id: number; members: MembersToAdd },
): Promise<{ cohort: CohortRow; found: number }> {
  const { environmentId: projectId } = author.target;
  const values = members.by === 'person_id' ? uuidsAmong(members.values) : members.values;
  const found = await addPersonsToCohort(database, { projectId, cohortId: id }, { ...members, values });
  return { cohort: await countMembers(database, author, id), found };
}

/**
 * Removes a person from a static cohort.
 * @throws AppError `not_found` if the person is not a member
 */
async function removeCohortMember(
  database: Pick<Database, 'transaction'>,
  author: CohortAuthor,
  { id, personUuid }: { id: number; personUuid: string },
): Promise<void> {
  const { environmentId: projectId } = author.target;
  const [known] = uuidsAmong([personUuid]);
  const isRemoved =
    known !== undefined &&
    (await database.transaction((tx) => deleteCohortMember(tx, { projectId, cohortId: id }, known)));
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
    const cohort = await requireCohort(tx, author.target, { id, needed: 'editor' });
    const after = await countStaticCohortMembers(tx, { projectId, cohortId: id });
    await saveCohortCount(tx, id, after);
    await recordMemberActivity(tx, author, { cohort, before: cohort.count ?? 0, after });
    return requireCohort(tx, author.target, { id, needed: 'editor' });
  });
}
