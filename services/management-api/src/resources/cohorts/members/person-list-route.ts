import type { Sql } from '@millrace/db';
import { AppError } from '@millrace/errors';
import { decodeCursor, keysetPage, keysetQuery, TextContent } from '@millrace/http';
import { Type } from 'typebox';
import { addressedProject } from '../../../access/addressed-project.ts';
import { defineRoute } from '../../../access/define-route.ts';
import { requireScope } from '../../../access/require-scope.ts';
import { listDistinctIds } from '../../distinct-ids/distinct-id-store.ts';
import { person, personExample } from '../../shown-persons/person-schema.ts';
import { toPerson } from '../../shown-persons/to-person.ts';
import { cohortParams, cohortsPath, cohortTags as tags } from '../cohort-params.ts';
import { findCohort } from '../cohort-store.ts';
import { findMembers } from './find-members.ts';
import { personsCsv } from './persons-csv.ts';

const position = Type.Object({ after: Type.String({ format: 'uuid' }) });
const nullableText = (description: string) => Type.Union([Type.String(), Type.Null()], { description });

export function personListRoute({ sql }: { sql: Sql }) {
  return defineRoute({
    method: 'GET',
    path: `${cohortsPath}/:id/persons`,
    operationId: 'cohorts_persons',
    summary: 'List the persons of a cohort',
    description:
      'Who belongs to it now, by uuid. Of a dynamic cohort so many persons are looked at for a page; one with fewer than `limit`, or none, is the last only where `next` is null. Asks for the scope `person:read` as well. With `format=csv` the page is a CSV file, and the next one is named in the header `Link`.',
    tags,
    scope: 'cohort:read',
    params: cohortParams,
    query: Type.Object({
      ...keysetQuery,
      format: Type.Optional(Type.String({ description: '`csv`; else JSON.' })),
    }),
    responses: {
      200: {
        description: 'One page of persons.',
        schema: Type.Object({
          results: Type.Array(person, { description: 'The persons of this page.' }),
          next: nullableText('Address of the next page, null on the last.'),
          previous: nullableText('Always null.'),
        }),
        text: {
          mediaType: 'text/csv; charset=utf-8',
          example: 'person_id,distinct_id,email,is_identified,created_at\r\n',
        },
      },
    },
    examples: { response: { results: [personExample], next: null, previous: null } },
    target: addressedProject(sql),
    handler: async ({ caller, target: { environmentId }, params: { id }, query, request }) => {
      requireScope(caller, 'person:read');
      const cohort = await findCohort(sql, environmentId, id);
      if (!cohort) throw new AppError('not_found', 'Not found.');
      const after = decodeCursor(position, query.cursor)?.after ?? null;
      const place = { projectId: environmentId, cohortId: id, isStatic: cohort.is_static };
      const page = await findMembers(sql, place, { after, limit: query.limit });
      const nextPosition = page.after === null ? null : { after: page.after };
      if (query.format === 'csv') {
        const { next } = keysetPage(request, { nextPosition }, []);
        return new TextContent(personsCsv(page.persons), {
          'Content-Disposition': `attachment; filename="cohort-${id}.csv"`,
          ...(next !== null && { Link: `<${next}>; rel="next"` }),
        });
      }
      const distinctIds = await listDistinctIds(sql, environmentId, page.persons);
      const results = page.persons.map((row) => toPerson(row, distinctIds.get(row.uuid)));
      return { ...keysetPage(request, { nextPosition }, results), previous: null };
    },
  });
}
