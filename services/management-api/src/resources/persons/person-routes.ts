import type { Sql } from '@millrace/db';
import { decodeCursor, keysetPage, keysetPageOf, keysetQuery } from '@millrace/http';
import { Type } from 'typebox';
import { addressedProject, projectParams } from '../../access/addressed-project.ts';
import { defineRoute } from '../../access/define-route.ts';
import { endOfPage } from '../../sql/end-of-page.ts';
import type { PageShares } from '../../sql/page-shares.ts';
import { listDistinctIds } from '../distinct-ids/distinct-id-store.ts';
import { parsePropertyFilters } from '../property-filters/parse-property-filters.ts';
import { propertiesQuery } from '../property-filters/properties-query.ts';
import { refuseBadPattern } from '../property-filters/refuse-bad-pattern.ts';
import { person, personExample } from '../shown-persons/person-schema.ts';
import { toPerson } from '../shown-persons/to-person.ts';
import { listPersons } from './person-store.ts';

/** The id of the last person shown; ids are 64 bits wide. */
const position = Type.Object({ id: Type.String({ pattern: '^\\d{1,18}$' }) });

const owners = ['person'] as const;

export function personRoutes({ sql, pageShares }: { sql: Sql; pageShares: PageShares }) {
  return [
    defineRoute({
      method: 'GET',
      path: '/api/projects/:project_id/persons',
      operationId: 'persons_list',
      summary: 'List persons',
      description:
        'The persons of a project, the newest first. Several filters narrow each other. A page of very large persons is shorter than `limit`: `next` tells whether there is more.',
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
        is_identified: Type.Optional(
          Type.Boolean({ description: 'Only persons who were ever identified, or only those who never were.' }),
        ),
        properties: propertiesQuery(owners),
      }),
      responses: { 200: { description: 'One page of persons.', schema: keysetPageOf(person) } },
      examples: { response: { next: null, results: [personExample] } },
      target: addressedProject(sql),
      handler: ({ target, query, request }) =>
        pageShares.run(async (maxBytes) => {
          const projectId = target.environmentId;
          const filter = { ...query, properties: parsePropertyFilters(query.properties, owners) };
          const belowId = decodeCursor(position, query.cursor)?.id ?? null;
          const window = { belowId, limit: query.limit, maxBytes };
          const rows = await refuseBadPattern(() => listPersons(sql, projectId, filter, window));
          const distinctIds = await listDistinctIds(sql, projectId, rows);
          const persons = rows.map((row) => toPerson(row, distinctIds.get(row.uuid)));
          return keysetPage(
            request,
            endOfPage(rows, (row) => ({ id: row.id })),
            persons,
          );
        }),
    }),
  ];
}
