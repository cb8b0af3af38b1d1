import type { Sql } from '@millrace/db';
import { decodeCursor, formatDateTime, keysetPage, keysetPageOf, keysetQuery } from '@millrace/http';
import { Type } from 'typebox';
import { addressedProject, projectParams } from '../../access/addressed-project.ts';
import { defineRoute } from '../../access/define-route.ts';
import { endOfPage } from '../../sql/end-of-page.ts';
import type { PageShares } from '../../sql/page-shares.ts';
import { group, groupExample } from './group-schema.ts';
import { listGroups } from './group-store.ts';

/** Type index and key of the last group shown. */
const position = Type.Object({ index: Type.Integer({ minimum: 0, maximum: 4 }), key: Type.String() });

export function groupRoutes({ sql, pageShares }: { sql: Sql; pageShares: PageShares }) {
  return [
    defineRoute({
      method: 'GET',
      path: '/api/projects/:project_id/groups',
      operationId: 'groups_list',
      summary: 'List groups',
      description:
        'The groups of a project, by type and key. A page of very large groups is shorter than `limit`: `next` tells whether there is more.',
      tags: ['groups'],
      scope: 'group:read',
      params: projectParams,
      query: Type.Object({
        ...keysetQuery,
        group_type_index: Type.Optional(
          Type.Integer({ minimum: 0, maximum: 4, description: 'Only groups of the type with this number.' }),
        ),
        group_key: Type.Optional(Type.String({ description: 'Only groups with exactly this key.' })),
        search: Type.Optional(
          Type.String({ description: 'Only groups whose key or property name contains this text, in any case.' }),
        ),
      }),
      responses: { 200: { description: 'One page of groups.', schema: keysetPageOf(group) } },
      examples: { response: { next: null, results: [groupExample] } },
      target: addressedProject(sql),
      handler: ({ target, query, request }) =>
        pageShares.run(async (maxBytes) => {
          const after = decodeCursor(position, query.cursor);
          const rows = await listGroups(sql, target.environmentId, query, { after, limit: query.limit, maxBytes });
          const end = endOfPage(rows, (row) => ({ index: row.group_type_index, key: row.group_key }));
          const groups = rows.map((row) => ({ ...row, created_at: formatDateTime(row.created_at) }));
          return keysetPage(request, end, groups);
        }),
    }),
  ];
}
