import type { Passwords } from '@millrace/accounts';
import type { Database, Sql } from '@millrace/db';
import { formatDateTime, offsetPage, offsetPageOf, offsetQuery } from '@millrace/http';
import { AppError } from '@millrace/runtime';
import { Type } from 'typebox';
import { firstEnvironment } from '../../access/addressed-store.ts';
import {
  type Caller,
  type Membership,
  onlyEnvironmentsOf,
  recentUntil,
  visibleOrganizationIds,
} from '../../access/caller.ts';
import { defineRoute } from '../../access/define-route.ts';
import { type RateLimit, throttled } from '../../access/rate-limit.ts';
import { toOrganization } from '../organizations/schema.ts';
import { listOrganizations } from '../organizations/store.ts';
import { findEnvironmentSummary } from '../projects/store.ts';
import type { AccountMailing } from '../sign-in/account-mailing.ts';
import { prepareNewPassword } from '../sign-in/rules.ts';
import { changeUser } from './rules.ts';
import { me, meExample, userChanges } from './schema.ts';
import { findCurrentEnvironment, findUser } from './store.ts';

interface UserRouteDeps extends Pick<Database, 'sql' | 'transaction'> {
  passwords: Passwords;
  accountMailing: AccountMailing;
  userChangeLimit: RateLimit;
}

export function userRoutes({ sql, transaction, passwords, accountMailing, userChangeLimit }: UserRouteDeps) {
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
      isBeforeSecondFactor: true,
      responses: { 200: { description: 'The user.', schema: me } },
      examples: { response: meExample },
      handler: async ({ caller }) => describeCaller(sql, caller),
    }),
    defineRoute({
      method: 'PATCH',
      path: '/api/users/@me',
      operationId: 'users_me_partial_update',
      summary: 'Change your own user',
      description:
        'Changes the given fields, and what `@current` stands for; the latter not with a key for some organizations or projects only. A password is changed by a session alone, which for this and for names needs a recent sign-in.',
      tags: ['users'],
      scope: 'user:write',
      isBeforeSecondFactor: true,
      body: userChanges,
      responses: { 200: { description: 'The user.', schema: me } },
      examples: { request: { first_name: 'Ada', set_current_team: 1 }, response: meExample },
      // Before the body is looked at: those that fail count too (case K42).
      target: async ({ caller }) => {
        const wait = await userChangeLimit.take(String(caller.userId));
        if (wait !== null) throw throttled(wait, 'You changed your account too often.');
      },
      handler: async ({ caller, body }) => {
        const { password, current_password: current = null, ...changes } = body;
        const change = password === undefined ? null : { password, current };
        // Before the transaction: it takes long, and somebody else waits for the connection.
        const setPassword = change && (await prepareNewPassword({ sql, passwords }, caller, change));
        await transaction(async (tx) => {
          await changeUser(tx, caller, changes);
          await setPassword?.(tx);
        });
        const user = await describeCaller(sql, await withCurrentEnvironment(sql, caller));
        if (setPassword) accountMailing.tell(user, 'password_changed');
        return user;
      },
    }),
    defineRoute({
      method: 'GET',
      path: '/api/users',
      operationId: 'users_list',
      summary: 'List users',
      description: 'Only your own user; members of an organization are listed there.',
      tags: ['users'],
      scope: 'user:read',
      query: Type.Object(offsetQuery),
      responses: { 200: { description: 'One page with your user.', schema: offsetPageOf(me) } },
      examples: { response: { count: 1, next: null, previous: null, results: [meExample] } },
      handler: async ({ caller, query, request }) =>
        offsetPage(request, query, {
          count: 1,
          results: query.offset === 0 ? [await describeCaller(sql, caller)] : [],
        }),
    }),
    defineRoute({
      method: 'GET',
      path: '/api/users/:uuid',
      operationId: 'users_retrieve',
      summary: 'Read a user',
      description: 'Your own user by its UUID; nobody else is shown.',
      tags: ['users'],
      scope: 'user:read',
      params: Type.Object({ uuid: Type.String({ description: 'UUID of the user.' }) }),
      responses: { 200: { description: 'The user.', schema: me } },
      examples: { response: meExample },
      handler: async ({ caller, params }) => {
        const user = await describeCaller(sql, caller);
        if (params.uuid.toLowerCase() === user.uuid) return user;
        throw new AppError('forbidden', "As a non-staff user you're only allowed to access the `@me` user instance.");
      },
    }),
  ];
}

/** The caller as the next request will see them. */
async function withCurrentEnvironment(sql: Sql, caller: Caller): Promise<Caller> {
  const { organizationId, environmentId } = await findCurrentEnvironment(sql, caller.userId);
  const isCurrent = (membership: Membership) => membership.organizationId === organizationId;
  return {
    ...caller,
    currentEnvironmentId: environmentId,
    memberships: [...caller.memberships.filter(isCurrent), ...caller.memberships.filter((one) => !isCurrent(one))],
  };
}

/** Shows no more than the key may reach: organizations, projects and environments are those it is restricted to. */
async function describeCaller(sql: Sql, caller: Caller) {
  const { credential } = caller;
  const visible = visibleOrganizationIds(caller);
  const only = onlyEnvironmentsOf(caller);
  const reach = { userId: caller.userId, organizationIds: visible };
  const [user, rows, current] = await Promise.all([
    findUser(sql, caller.userId),
    listOrganizations(sql, { ...reach, only }, { limit: visible.length, offset: 0 }),
    firstEnvironment(sql, reach, { only, preferred: caller.currentEnvironmentId }),
  ]);
  // Deleted between authentication and here.
  if (!user) throw new AppError('not_found', 'Not found.');
  const organizations = rows.map((row) => toOrganization(row, caller));
  return {
    ...user,
    date_joined: formatDateTime(user.created_at),
    hedgehog_config: user.hedgehog_config ?? {},
    pending_email: null,
    sensitive_session_expires_at: credential.kind === 'session' ? formatDateTime(recentUntil(credential)) : null,
    // Nobody stands above organizations.
    is_staff: false,
    has_social_auth: false,
    // Somebody may have made it private to others.
    team: current?.level ? ((await findEnvironmentSummary(sql, current.environmentId)) ?? null) : null,
    organization: organizations.find(({ id }) => id === visible[0]) ?? null,
    organizations,
  };
}
