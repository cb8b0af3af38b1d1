import type { Sql } from '@millrace/db';
import { AppError } from '@millrace/errors';
import { formatDateTime } from '@millrace/http';
import { firstEnvironment } from '../../access/addressed-store.ts';
import { type Caller, visibleOrganizationIds } from '../../access/caller.ts';
import { defineRoute } from '../../access/define-route.ts';
import { listOrganizations } from '../organizations/organization-store.ts';
import { toOrganization } from '../organizations/to-organization.ts';
import { findEnvironmentSummary } from '../projects/project-store.ts';
import { me, meExample } from './user-schema.ts';
import { findUser } from './user-store.ts';

export function userRoutes({ sql }: { sql: Sql }) {
  return [
    defineRoute({
      method: 'GET',
      path: '/api/users/@me',
      operationId: 'users_me_retrieve',
      summary: 'Read your own user',
      description:
        'The user the key belongs to. Works with a key restricted to organizations or projects too, so it tells whether a key works at all.',
      tags: ['users'],
      scope: 'user:read',
      responses: { 200: { description: 'The user.', schema: me } },
      examples: { response: meExample },
      handler: async ({ caller }) => describeCaller(sql, caller),
    }),
  ];
}

/** Shows no more than the key may reach: organizations and the project are those it is restricted to. */
async function describeCaller(sql: Sql, caller: Caller) {
  const visible = visibleOrganizationIds(caller);
  const [user, rows, current] = await Promise.all([
    findUser(sql, caller.userId),
    listOrganizations(sql, visible, { limit: visible.length, offset: 0 }),
    firstEnvironment(sql, visible, {
      only: caller.scopedTeams.length > 0 ? caller.scopedTeams : null,
      preferred: caller.currentEnvironmentId,
    }),
  ]);
  // Deleted between authentication and here.
  if (!user) throw new AppError('not_found', 'Not found.');
  const organizations = rows.map((row) => toOrganization(row, caller));
  return {
    ...user,
    date_joined: formatDateTime(user.created_at),
    team: current ? ((await findEnvironmentSummary(sql, current.environmentId)) ?? null) : null,
    organization: organizations.find(({ id }) => id === visible[0]) ?? null,
    organizations,
  };
}
