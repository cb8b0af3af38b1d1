import type { Sql } from '@millrace/db';
import {
  cutPage,
  decodeCursor,
  formatDateTime,
  keysetPage,
  keysetPageOf,
  keysetQuery,
  rowsToFetch,
} from '@millrace/http';
import { Type } from 'typebox';
import { addressedProject, projectParams } from '../../access/addressed-project.ts';
import { defineRoute } from '../../access/define-route.ts';
import { group, groupExample } from './group-schema.ts';
import { listGroups } from './group-store.ts';

/** Type index and key of the last group shown. */
const place = Type.Object({ index: Type.Integer({ minimum: 0, maximum: 4 }), key: Type.String() });

export function groupRoutes({ sql }: { sql: Sql }) {
  return [
    defineRoute({
      method: 'GET',
      path: '/api/projects/:project_id/groups',
      operationId: 'groups_list',
      summary: 'List groups',
      description: 'The groups of a project, by type and key.',
      tags: ['groups'],
      scope: 'group:read',
      params: projectParams,
      query: Type.Object({
        ...keysetQuery,
        group_type_index: Type.Optional(
          Type.Integer({ minimum: 0, maximum: 4, description: 'Only groups of the type with this number.' }),
        ),
        search: Type.Optional(
          Type.String({ description: 'Only groups whose key or property name contains this text, in any case.' }),
        ),
      }),
      responses: { 200: { description: 'One page of groups.', schema: keysetPageOf(group) } },
      examples: { response: { next: null, results: [groupExample] } },
      target: addressedProject(sql),
      handler: async ({ target, query, request }) => {
        const after = decodeCursor(place, query.cursor);
        const found = await listGroups(sql, target.environmentId, query, { after, limit: rowsToFetch(query) });
        const page = cutPage(found, query, (row) => ({ index: row.group_type_index, key: row.group_key }));
        const groups = page.rows.map((row) => ({ ...row, created_at: formatDateTime(row.created_at) }));
        return keysetPage(request, page, groups);
      },
    }),
  ];
}
