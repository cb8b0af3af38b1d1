import type { Sql } from '@millrace/db';
import { AppError } from '@millrace/errors';
import { formatDateTime } from '@millrace/http';
import { Type } from 'typebox';
import { addressedProject, projectParams } from '../../access/addressed-project.ts';
import { defineRoute } from '../../access/define-route.ts';
import { group, groupExample } from './group-schema.ts';
import { readGroup } from './group-store.ts';

/** One group: it has no number, so its type and key are asked for. */
export function findGroupRoute({ sql }: { sql: Sql }) {
  return defineRoute({
    method: 'GET',
    path: '/api/projects/:project_id/groups/find',
    operationId: 'groups_find_retrieve',
    summary: 'Show a group',
    description: 'One group by the number of its type and its key. 404 when there is none.',
    tags: ['groups'],
    scope: 'group:read',
    params: projectParams,
    query: Type.Object({
      group_type_index: Type.Integer({ minimum: 0, maximum: 4, description: 'Number of the type, 0 to 4.' }),
      group_key: Type.String({ minLength: 1, description: 'Key of the group, exactly.' }),
    }),
    responses: { 200: { description: 'The group.', schema: group } },
    examples: { response: groupExample },
    target: addressedProject(sql),
    handler: async ({ target: { environmentId }, query }) => {
      const row = query.group_key.includes('\u0000') ? undefined : await readGroup(sql, environmentId, query);
      if (row === undefined) throw new AppError('not_found', 'Not found.');
      return { ...row, created_at: formatDateTime(row.created_at) };
    },
  });
}
