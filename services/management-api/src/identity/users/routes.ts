// Declares the routes that let users read and change their own account.

import { type Passwords, removeUser } from '@millrace/accounts';
import type { Sql } from '@millrace/db';
import { formatDateTime, offsetPage, offsetPageSchema, offsetQuery, WithHeaders } from '@millrace/http';
import { AppError } from '@millrace/runtime';
import { Type } from 'typebox';
import { findCurrentOrFirstEnvironment } from '../../access/addressed-store.ts';
import {
  type Caller,
  computeRecentSignInEnd,
  findScopedEnvironments,
  getVisibleOrganizationIds,
  type Membership,
} from '../../access/caller.ts';
import { defineRoute } from '../../access/define-route.ts';
import { createThrottledError, type RateLimit } from '../../access/rate-limit.ts';
import { deleteSessionCookie } from '../../access/session-cookie.ts';
import { activityExample, activityPage, activityQuery, readActivity } from '../../activity/activity-page.ts';
import { toOrganization } from '../organizations/schema.ts';
import { listOrganizations } from '../organizations/store.ts';
import { findEnvironmentSummary } from '../projects/store.ts';
import { prepareNewPassword, requireUser } from '../sign-in/rules.ts';
import { done } from '../sign-in/schema.ts';
import {
  cancelEmailChange,
  type EmailChangeDeps,
  findPendingEmail,
  prepareEmailChange,
  requestEmailCode,
  verifyEmail,
} from './email-change.ts';
import { requirePasskeyAfterPassword, updateOwnUser } from './rules.ts';
import { emailVerification, me, meExample, refusedUserFields, userChanges } from './schema.ts';
import { findCurrentEnvironment, findUser } from './store.ts';

interface UserRouteDeps extends EmailChangeDeps {
  passwords: Passwords;
  userChangeLimit: RateLimit;
}

export function userRoutes({ passwords, userChangeLimit, ...deps }: UserRouteDeps) {
  const { sql, transaction, accountMailing } = deps;
  return [
    defineRoute({
      method: 'GET',
      path: '/api/users/@me',
      operationId: 'users_me_retrieve',
      summary: 'Show your own user',
      description:
        'Returns the user that the API key or session belongs to. This request also works with keys that are ' +
        'limited to certain organizations or projects, so you can use it to check whether a key is valid.',
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
        'Changes the given fields. `set_current_organization` and `set_current_team` change what `@current` refers ' +
        'to, ' +
        'and cannot be set with a key that is limited to certain organizations or projects. Changing the password, ' +
        'the email ' +
        'address or `passkeys_enabled_for_2fa` requires a session. In a session, changing these fields or the name ' +
        'also requires a recent sign-in.',
      tags: ['users'],
      scope: 'user:write',
      isBeforeSecondFactor: true,
      body: userChanges,
      refusedBody: refusedUserFields,
      responses: { 200: { description: 'The user.', schema: me } },
      examples: { request: { first_name: 'Ada', set_current_team: 1 }, response: meExample },
      // Count the request before the body is validated, so that requests with an invalid body count toward the limit
      // too (case key-042).
      target: async ({ caller }) => {
        const wait = await userChangeLimit.take(String(caller.userId));
        if (wait !== null) throw createThrottledError(wait, 'You changed your account too often.');
      },
      handler: async ({ caller, body, request }) => {
        const { password, current_password: current = null, email, passkeys_enabled_for_2fa: count, ...changes } = body;
        const change = password === undefined ? null : { password, current };
        // Hash the password before the transaction, because hashing is slow and the transaction occupies a connection.
        const setPassword = change && (await prepareNewPassword({ sql, passwords }, caller, change));
        const mailCode = email === undefined ? null : await prepareEmailChange(deps, { caller, email, request });
        const notice = await transaction(async (tx) => {
          const passkeyNotice = count === undefined ? null : await requirePasskeyAfterPassword(tx, caller, count);
          await updateOwnUser(tx, caller, changes);
          await setPassword?.(tx);
          return passkeyNotice;
        });
        await mailCode?.();
        const user = await describeCaller(sql, await withCurrentEnvironment(sql, caller));
        if (setPassword) accountMailing.notifyUser(user, 'password_changed');
        if (notice) accountMailing.notifyUser(user, notice);
        return user;
      },
    }),
    ...ownAccountRoutes(deps),
    defineRoute({
      method: 'GET',
      path: '/api/users',
      operationId: 'users_list',
      summary: 'List users',
      description:
        "Returns only your own user. To list the other members of an organization, use the organization's member list.",
      tags: ['users'],
      scope: 'user:read',
      query: Type.Object({
        ...offsetQuery,
        email: Type.Optional(
          Type.String({ description: 'Returns your user only if it has this email address, ignoring case.' }),
        ),
        is_staff: Type.Optional(
          Type.Boolean({ description: 'Returns your user only if its `is_staff` has this value.' }),
        ),
      }),
      responses: { 200: { description: 'One page with your user.', schema: offsetPageSchema(me) } },
      examples: { response: { count: 1, next: null, previous: null, results: [meExample] } },
      handler: async ({ caller, query, request }) =>
        offsetPage(request, query, async ({ offset }) => {
          const user = await describeCaller(sql, caller);
          const hasEmail = query.email === undefined || query.email.toLowerCase() === user.email.toLowerCase();
          const isListed = hasEmail && (query.is_staff === undefined || query.is_staff === user.is_staff);
          return { count: Number(isListed), results: isListed && offset === 0 ? [user] : [] };
        }),
    }),
    defineRoute({
      method: 'GET',
      path: '/api/users/:uuid',
      operationId: 'users_retrieve',
      summary: 'Show a user',
      description: 'Returns your own user by its UUID. Other users are not accessible.',
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

const tags: [string] = ['users'];
const isDone = { success: true };

/** Creates the routes for actions on the user's own account. They require a session. */
function ownAccountRoutes(deps: EmailChangeDeps) {
  const { sql, transaction, accountMailing } = deps;
  const change = { tags, scope: 'user:write', isBeforeSecondFactor: true } as const;
  const done200 = { 200: { description: 'The request was successful.', schema: done } };
  return [
    defineRoute({
      ...change,
      method: 'POST',
      path: '/api/users/verify_email',
      operationId: 'users_verify_email_create',
      summary: 'Verify a new email address',
      description:
        'Verifies the pending email address with the six-digit code that was sent to it. The address then becomes ' +
        "your account's email address, and your other sessions end. After five wrong codes, you must request a new " +
        'one. ' +
        'Requires a session.',
      body: emailVerification,
      responses: done200,
      examples: { request: { code: '123456' }, response: isDone },
      handler: async ({ caller, body }) => {
        await verifyEmail(deps, { caller, code: body.code });
        return isDone;
      },
    }),
    defineRoute({
      ...change,
      method: 'POST',
      path: '/api/users/request_email_verification',
      operationId: 'users_request_email_verification_create',
      summary: 'Request a new verification code',
      description:
        'Sends a new code to the pending email address. The previous code stops working. Requires a session.',
      responses: done200,
      examples: { response: isDone },
      handler: async ({ caller, request }) => {
        await requestEmailCode(deps, { caller, request });
        return isDone;
      },
    }),
    defineRoute({
      ...change,
      method: 'PATCH',
      path: '/api/users/cancel_email_change_request',
      operationId: 'users_cancel_email_change_request_partial_update',
      summary: 'Cancel an email address change',
      description: 'Deletes the pending email address. The current address does not change. Requires a session.',
      responses: done200,
      examples: { response: isDone },
      handler: async ({ caller }) => {
        await cancelEmailChange(sql, caller);
        return isDone;
      },
    }),
    defineRoute({
      method: 'GET',
      path: '/api/users/@me/activity',
      operationId: 'users_me_activity',
      summary: 'Show your account history',
      description: 'Returns sign-ins, with the IP address and browser, and changes to your account, the latest first.',
      tags,
      scope: 'user:read',
      query: activityQuery,
      responses: { 200: { description: 'One page of activity.', schema: activityPage } },
      examples: { response: activityExample },
      handler: async ({ caller, query, request }) => {
        const { uuid } = await requireUser(sql, caller.userId);
        return readActivity(sql, request, { scopes: ['User'], itemId: uuid, ...query });
      },
    }),
    defineRoute({
      ...change,
      method: 'DELETE',
      path: '/api/users/@me',
      operationId: 'users_me_destroy',
      summary: 'Delete your account',
      description:
        'Deletes your account and its API keys, sessions and memberships. Everything you created remains. If you ' +
        'are an owner of an organization, the request is rejected. Make another member the owner or delete the ' +
        'organization first. Requires a session.',
      isSensitive: true,
      responses: {
        204: { description: 'The account is deleted.' },
        405: {
          description:
            'The request used an API key. An account can be deleted only in a session (`method_not_allowed`).',
        },
      },
      handler: async ({ caller, request }) => {
        // user-005: a request with a key gets the same response as in PostHog.
        if (caller.credential.kind === 'key') {
          throw new AppError('method_not_allowed', 'Method "DELETE" not allowed.');
        }
        const user = await requireUser(sql, caller.userId);
        await transaction((tx) => removeUser(tx, user));
        accountMailing.notifyUser(user, 'account_removed');
        return new WithHeaders(undefined, deleteSessionCookie(request));
      },
    }),
  ];
}

/** Returns the caller with the current environment from the database, because the request may have changed it. */
async function withCurrentEnvironment(sql: Sql, caller: Caller): Promise<Caller> {
  const { organizationId, environmentId } = await findCurrentEnvironment(sql, caller.userId);
  const isCurrent = (membership: Membership) => membership.organizationId === organizationId;
  return {
    ...caller,
    currentEnvironmentId: environmentId,
    memberships: [...caller.memberships.filter(isCurrent), ...caller.memberships.filter((one) => !isCurrent(one))],
  };
}

/**
 * Describes the caller. For a key, includes only the organizations, projects and environments that the key can access.
 */
async function describeCaller(sql: Sql, caller: Caller) {
  const { credential } = caller;
  const visible = getVisibleOrganizationIds(caller);
  const only = findScopedEnvironments(caller);
  const reach = { userId: caller.userId, organizationIds: visible };
  const [user, rows, current] = await Promise.all([
    findUser(sql, caller.userId),
    listOrganizations(sql, { ...reach, only }, { limit: visible.length, offset: 0 }),
    findCurrentOrFirstEnvironment(sql, reach, { only, preferred: caller.currentEnvironmentId }),
  ]);
  // The user was deleted after the request was authenticated.
  if (!user) throw new AppError('not_found', 'Not found.');
  const organizations = rows.map((row) => toOrganization(row, caller));
  return {
    ...user,
    date_joined: formatDateTime(user.created_at),
    hedgehog_config: user.hedgehog_config ?? {},
    pending_email: await findPendingEmail(sql, caller.userId),
    sensitive_session_expires_at:
      credential.kind === 'session' ? formatDateTime(computeRecentSignInEnd(credential)) : null,
    // Millrace has no users with rights in all organizations.
    is_staff: false,
    // The environment may have become private since it was selected.
    team: current?.level ? ((await findEnvironmentSummary(sql, current.environmentId)) ?? null) : null,
    organization: organizations.find(({ id }) => id === visible[0]) ?? null,
    organizations,
  };
}
