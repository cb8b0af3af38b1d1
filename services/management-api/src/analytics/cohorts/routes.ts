import type { Database } from '@millrace/db';
import type { MembersToAdd } from '@millrace/flags/cohorts';
import { offsetPage, offsetPageSchema, offsetQuery } from '@millrace/http';
import { AppError } from '@millrace/runtime';
import { Type } from 'typebox';
import { environmentBasePaths } from '../../access/addressed-project.ts';
import { defineRoutes } from '../../access/define-route.ts';
import type { Searches } from '../../access/searches.ts';
import { longestNeedle } from '../../sql/longest-needle.ts';
import { cohortHistoryRoutes } from './history-routes.ts';
import { memberFile } from './member-file.ts';
import { addCohortMembers, memberRoutes } from './members.ts';
import { personListRoute } from './person-list.ts';
import type { CohortChanges } from './rules.ts';
import {
  cohort,
  cohortChanges,
  cohortExample,
  cohortParams,
  cohortsPath,
  newCohortExample,
  cohortTags as tags,
  toCohort,
} from './schema.ts';
import { type CohortRow, listCohorts } from './store.ts';
import { type CohortAuthor, changeCohort, createCohort, duplicateAsStatic, requireCohort } from './write.ts';

const listQuery = Type.Object({
  ...offsetQuery,
  type: Type.Optional(Type.String({ description: 'Only cohorts of this type: `static` or `dynamic`.' })),
  created_by_id: Type.Optional(
    Type.Integer({ minimum: 1, maximum: 2_147_483_647, description: 'Only cohorts created by the user with this ID.' }),
  ),
  search: Type.Optional(
    Type.String({
      maxLength: longestNeedle,
      description: 'Only cohorts whose name contains this text, ignoring case.',
    }),
  ),
});

/**
 * Declares the routes of cohorts. A cohort is a group of persons, defined by filters (dynamic) or as a fixed list
 * (static).
 */
export function cohortRoutes(database: Pick<Database, 'sql' | 'transaction'> & { searches: Searches }) {
  // Paths such as `cohorts/activity` must come before `cohorts/:id`, because `cohorts/:id` would match them too.
  return [
    ...cohortHistoryRoutes(database),
    ...readRoutes(database),
    ...cohortWriteRoutes(database),
    ...memberRoutes(database),
    ...personListRoute(database),
  ];
}

function readRoutes({ sql }: Pick<Database, 'sql'>) {
  const below = environmentBasePaths(sql);
  return [
    ...defineRoutes({
      method: 'GET',
      below,
      path: cohortsPath,
      operationId: 'cohorts_list',
      summary: 'List cohorts',
      description: 'Returns the cohorts of the project, newest first. Deleted cohorts are left out.',
      tags,
      scope: 'cohort:read',
      query: listQuery,
      responses: { 200: { description: 'One page of cohorts.', schema: offsetPageSchema(cohort) } },
      examples: { response: { count: 1, next: null, previous: null, results: [cohortExample] } },
      handler: async ({ target, query, request }) =>
        offsetPage(request, query, async (window) => {
          const { count, rows } = await listCohorts(sql, target, { ...window, filter: query });
          return { count, results: rows.map(toCohort) };
        }),
    }),
    ...defineRoutes({
      method: 'GET',
      below,
      path: `${cohortsPath}/:id`,
      operationId: 'cohorts_retrieve',
      summary: 'Show a cohort',
      description: 'Returns one cohort. Deleted cohorts can be read as well.',
      tags,
      scope: 'cohort:read',
      params: cohortParams,
      responses: { 200: { description: 'The cohort.', schema: cohort } },
      examples: { response: cohortExample },
      handler: async ({ target, params: { id } }) =>
        toCohort(await requireCohort(sql, target, { id, needed: 'viewer' })),
    }),
  ];
}

function cohortWriteRoutes(database: Pick<Database, 'sql' | 'transaction'>) {
  const { transaction } = database;
  const below = environmentBasePaths(database.sql);

  async function withMembers(
    author: CohortAuthor,
    written: CohortRow,
    { body, file }: { body: CohortChanges; file: MembersToAdd | undefined },
  ): Promise<CohortRow> {
    let after = written;
    const listed = body._create_static_person_ids ?? [];
    const lists = [...(file ? [file] : []), ...(listed.length > 0 ? [byUuid(listed)] : [])];
    for (const members of lists) {
      after = (await addCohortMembers(database, author, { id: written.id, members })).cohort;
    }
    return after;
  }

  return [
    ...defineRoutes({
      method: 'POST',
      below,
      path: cohortsPath,
      operationId: 'cohorts_create',
      summary: 'Create a cohort',
      description:
        'Creates a cohort. The persons in a dynamic cohort are counted in the background. To create a static cohort with ' +
        'members, send a file, or the UUIDs of the persons.',
      tags,
      scope: 'cohort:write',
      body: cohortChanges,
      file: memberFile,
      responses: { 201: { description: 'The new cohort.', schema: cohort } },
      examples: { request: newCohortExample, response: { ...cohortExample, count: null, last_calculation: null } },
      handler: async ({ caller: { userId }, target: place, body, file }) => {
        requireStaticForFile(body.is_static ?? false, file);
        const author = { userId, target: place };
        const made = await transaction((tx) => createCohort(tx, author, { body }));
        return toCohort(await withMembers(author, made, { body: made.is_static ? body : {}, file }));
      },
    }),
    ...(['PATCH', 'PUT'] as const).flatMap((method) =>
      defineRoutes({
        method,
        below,
        path: `${cohortsPath}/:id`,
        operationId: `cohorts_${method === 'PUT' ? 'update' : 'partial_update'}`,
        summary: method === 'PUT' ? 'Replace a cohort' : 'Change or delete a cohort',
        description:
          'Changes the fields that are sent and leaves all others unchanged. Members in the request are added to the ' +
          'existing members. To delete a cohort, send `deleted: true`; to restore it, send `deleted: false`.',
        tags,
        scope: 'cohort:write',
        params: cohortParams,
        body: cohortChanges,
        file: memberFile,
        responses: { 200: { description: 'The updated cohort.', schema: cohort } },
        examples: {
          request: method === 'PUT' ? newCohortExample : { deleted: true },
          response: method === 'PUT' ? cohortExample : { ...cohortExample, deleted: true },
        },
        handler: async ({ caller: { userId }, target: place, params: { id }, body, file }) => {
          const author = { userId, target: place };
          const after = await transaction(async (tx) => {
            const changed = await changeCohort(tx, author, { id, changes: body });
            requireStaticForFile(changed.is_static, file);
            return changed;
          });
          return toCohort(await withMembers(author, after, { body: after.is_static ? body : {}, file }));
        },
      }),
    ),
    ...defineRoutes({
      method: 'DELETE',
      below,
      path: `${cohortsPath}/:id`,
      operationId: 'cohorts_destroy',
      summary: 'Not supported. To delete, send PATCH with `deleted: true`',
      description: 'Cohorts cannot be deleted permanently. Send a PATCH request with `deleted: true` instead.',
      tags,
      scope: 'cohort:write',
      params: Type.Object({ id: Type.String({ description: 'Ignored.' }) }),
      responses: { 405: { description: 'Always returned. The response has no body.' } },
      handler: async () => undefined,
    }),
    ...defineRoutes({
      method: 'GET',
      isUnsafe: true,
      below,
      path: `${cohortsPath}/:id/duplicate_as_static_cohort`,
      operationId: 'cohorts_duplicate_as_static_cohort',
      summary: 'Copy a dynamic cohort to a static cohort',
      description:
        'Creates a static cohort with the persons who currently belong to a dynamic cohort. They are added in the ' +
        'background, and `is_calculating` is true until all of them have been added.',
      tags,
      scope: 'cohort:write',
      params: cohortParams,
      responses: { 200: { description: 'The new cohort.', schema: cohort } },
      examples: {
        response: {
          ...cohortExample,
          name: 'Paying customers (static copy)',
          filters: null,
          is_static: true,
          cohort_type: 'static',
          is_calculating: true,
          count: null,
          last_calculation: null,
        },
      },
      handler: async ({ caller: { userId }, target: place, params: { id } }) =>
        toCohort(await transaction((tx) => duplicateAsStatic(tx, { userId, target: place }, id))),
    }),
  ];
}

function byUuid(values: string[]): MembersToAdd {
  return { by: 'person_id', values };
}

function requireStaticForFile(isStatic: boolean, file: MembersToAdd | undefined): void {
  if (isStatic || file === undefined) return;
  throw new AppError(
    'invalid',
    'Only static cohorts can have a list of members. Set `is_static` to true, or leave the file out.',
    {
      code: 'invalid_input',
      attr: 'csv',
    },
  );
}
