// The persons of a group.

import type { Sql } from '@millrace/db';
import { decodeCursor, keysetPage, keysetPageOf, keysetQuery } from '@millrace/http';
import { Type } from 'typebox';
import { belowEnvironment } from '../../access/addressed-project.ts';
import { defineRoutes } from '../../access/define-route.ts';
import type { Searches } from '../../access/searches.ts';
import { endOfPage, type PageShares } from '../../sql/page-within-bytes.ts';
import { requireTime } from '../../time/relative-time.ts';
import { listDistinctIds } from '../distinct-ids/distinct-id-store.ts';
import { person, personExample } from '../shown-persons/person-schema.ts';
import { toPerson } from '../shown-persons/to-person.ts';
import { listGroupMembers } from './member-store.ts';

/** The id of the last person shown; ids are 64 bits wide. */
const position = Type.Object({ id: Type.String({ pattern: '^\\d{1,18}$' }) });

export function groupMemberRoutes({
  sql,
  searches,
  pageShares,
}: {
  sql: Sql;
  searches: Searches;
  pageShares: PageShares;
}) {
  return defineRoutes({
    method: 'GET',
    below: belowEnvironment(sql),
    path: '/groups/members',
    operationId: 'groups_members',
    summary: 'List the persons of a group',
    description:
      'The persons with an event that names the group, the newest person first. Membership is stored nowhere else, so the events since `after` are looked through for each page. Nobody when there is no such group.',
    tags: ['groups'],
    scope: 'person:read',
    query: Type.Object({
      ...keysetQuery,
      group_type_index: Type.Integer({ minimum: 0, maximum: 4, description: 'Number of the type, 0 to 4.' }),
      group_key: Type.String({ minLength: 1, maxLength: 400, description: 'Key of the group, exactly.' }),
      after: Type.String({
        default: '-30d',
        description: 'Only events later than this time tell: ISO 8601, or a time ago like `-7d`.',
      }),
    }),
    responses: { 200: { description: 'One page of persons.', schema: keysetPageOf(person) } },
    examples: { response: { next: null, results: [personExample] } },
    handler: ({ caller, target, query, request }) =>
      pageShares.run(async (maxBytes) => {
        const projectId = target.environmentId;
        const group = { ...query, after: requireTime(query.after, 'after', new Date()) };
        const belowId = decodeCursor(position, query.cursor)?.id ?? null;
        const window = { belowId, limit: query.limit, maxBytes };
        const rows = await searches.run({ caller, target }, 'after', (on) =>
          listGroupMembers(on, projectId, group, window),
        );
        const distinctIds = await listDistinctIds(sql, projectId, rows);
        const end = endOfPage(rows, (row) => ({ id: row.id }));
        return keysetPage(
          request,
          end,
          rows.map((row) => toPerson(row, distinctIds.get(row.uuid))),
        );
      }),
  });
}
