import type { Sql } from '@millrace/db';
import { cutPage, decodeCursor, keysetPage, keysetPageOf, keysetQuery, rowsToFetch } from '@millrace/http';
import { Type } from 'typebox';
import { addressedProject, projectParams } from '../../access/addressed-project.ts';
import { defineRoute } from '../../access/define-route.ts';
import { listDistinctIds } from './distinct-id-store.ts';
import { person, personExample } from './person-schema.ts';
import { listPersons } from './person-store.ts';
import { toPerson } from './to-person.ts';

/** The id of the last person shown; ids are 64 bits wide. */
const place = Type.Object({ id: Type.String({ pattern: '^\\d{1,18}$' }) });

export function personRoutes({ sql }: { sql: Sql }) {
  return [
    defineRoute({
      method: 'GET',
      path: '/api/projects/:project_id/persons',
      operationId: 'persons_list',
      summary: 'List persons',
      description: 'The persons of a project, the newest first. Several filters narrow each other.',
      tags: ['persons'],
      scope: 'person:read',
      params: projectParams,
      query: Type.Object({
        ...keysetQuery,
        distinct_id: Type.Optional(Type.String({ description: 'Only the person this distinct id belongs to.' })),
        email: Type.Optional(Type.String({ description: 'Only persons whose property email is exactly this.' })),
        search: Type.Optional(
          Type.String({
            description: 'Only persons whose email, name or one of whose distinct ids contains this text, in any case.',
          }),
        ),
      }),
      responses: { 200: { description: 'One page of persons.', schema: keysetPageOf(person) } },
      examples: { response: { next: null, results: [personExample] } },
      target: addressedProject(sql),
      handler: async ({ target, query, request }) => {
        const projectId = target.environmentId;
        const belowId = decodeCursor(place, query.cursor)?.id ?? null;
        const found = await listPersons(sql, projectId, query, { belowId, limit: rowsToFetch(query) });
        const page = cutPage(found, query, (row) => ({ id: row.id }));
        const distinctIds = await listDistinctIds(sql, projectId, page.rows);
        return keysetPage(
          request,
          page,
          page.rows.map((row) => toPerson(row, distinctIds.get(row.uuid))),
        );
      },
    }),
  ];
}
