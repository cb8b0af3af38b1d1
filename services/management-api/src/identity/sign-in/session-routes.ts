// Declares the routes that let signed-in users manage their sessions.

import {
  endUserSession,
  endUserSessions,
  findSecondFactors,
  renewSessionSecret,
  requiresSecondFactor,
  type SignInUser,
  selectSessions,
} from '@millrace/accounts';
import { type ApiRequest, WithHeaders } from '@millrace/http';
import { AppError } from '@millrace/runtime';
import { type Static, Type } from 'typebox';
import { type Caller, requireSession, type SessionCredential } from '../../access/caller.ts';
import { defineRoute } from '../../access/define-route.ts';
import { setSessionCookies } from '../../access/session-cookie.ts';
import { checkDiscoverablePasskey } from './passkeys.ts';
import { findKnownDevice, requireUser, type SignInDeps } from './rules.ts';
import {
  done,
  loginSession,
  loginSessionExample,
  reauthentication,
  revokedSessions,
  toLoginSession,
} from './schema.ts';
import { checkFactorCode } from './second-factor.ts';

const tags: [string] = ['sign-in'];
const path = '/api/users/@me/login_sessions';

/** Creates the session routes (docs/api/sign-in.md). They require a session and do not accept API keys. */
export function sessionRoutes(deps: SignInDeps) {
  const { sql } = deps;
  const target = async ({ caller }: { caller: Caller }): Promise<SessionCredential> => requireSession(caller);
  return [
    defineRoute({
      method: 'GET',
      path,
      operationId: 'users_login_sessions_list',
      summary: 'List your sessions',
      description:
        'Returns your sessions. The current session comes first, followed by the most recently used. Requires a ' +
        'session.',
      tags,
      scope: 'user:read',
      responses: { 200: { description: 'The sessions.', schema: Type.Array(loginSession) } },
      examples: { response: [loginSessionExample] },
      target,
      handler: async ({ caller, target: current }) => {
        const sessions = (await selectSessions(sql, caller.userId)).map((row) => toLoginSession(row, current.id));
        return [...sessions.filter((one) => one.is_current), ...sessions.filter((one) => !one.is_current)];
      },
    }),
    defineRoute({
      method: 'POST',
      path: `${path}/revoke_others`,
      operationId: 'users_login_sessions_revoke_others',
      summary: 'End all other sessions',
      description: 'Ends all of your sessions except the current one. Requires a session.',
      tags,
      scope: 'user:write',
      isSensitive: true,
      responses: { 200: { description: 'The number of sessions that were ended.', schema: revokedSessions } },
      examples: { response: { revoked_count: 2 } },
      target,
      handler: async ({ caller, target: { id } }) => ({
        revoked_count: await endUserSessions(sql, caller.userId, { except: id }),
      }),
    }),
    defineRoute({
      method: 'DELETE',
      path: `${path}/:id`,
      operationId: 'users_login_sessions_destroy',
      summary: 'End a session',
      description: 'Ends one of your sessions. The next request from that browser is rejected. Requires a session.',
      tags,
      scope: 'user:write',
      isSensitive: true,
      params: Type.Object({ id: Type.String({ description: 'ID (UUID) of the session.' }) }),
      responses: { 204: { description: 'The session was ended.' } },
      target,
      handler: async ({ caller, params }) => {
        if (await endUserSession(sql, caller.userId, params.id)) return undefined;
        throw new AppError('not_found', 'Not found.');
      },
    }),
    defineRoute({
      method: 'POST',
      path: '/api/reauthenticate',
      operationId: 'reauthenticate_create',
      summary: 'Confirm your identity',
      description:
        "Confirms the user's identity. For the next two hours, the session can be used for actions that require a " +
        'recent sign-in. Send either `password` (and `token` if a second factor is required), or `credential` (the ' +
        'passkey response to the options from `POST /api/webauthn/login/begin`). The response replaces the cookie. ' +
        'Requires a session.',
      tags,
      scope: 'user:write',
      isBeforeSecondFactor: true,
      body: reauthentication,
      responses: { 200: { description: 'The identity was confirmed.', schema: done } },
      examples: { request: { password: 'correct horse battery staple' }, response: { success: true } },
      target,
      handler: async ({ caller, target: { id }, body, request }) => {
        await confirm(deps, { caller, body, request });
        return new WithHeaders(
          { success: true },
          setSessionCookies(request, { session: await renewSessionSecret(sql, id), device: null }),
        );
      },
    }),
  ];
}

/**
 * Confirms a session by password, second factor or passkey.
 * @throws AppError `invalid` naming the wrong or missing field, or the errors of the rate limits
 */
async function confirm(
  deps: SignInDeps,
  { caller, body, request }: { caller: Caller; body: Static<typeof reauthentication>; request: ApiRequest },
): Promise<void> {
  const { sql } = deps;
  const user = await requireUser(sql, caller.userId);
  if (body.credential) {
    if (await confirmByPasskey(deps, { user, credential: body.credential, request })) return;
  } else {
    await confirmByPassword(deps, { user, password: body.password, request });
  }
  if (!requiresSecondFactor(await findSecondFactors(sql, user.id))) return;
  if (body.token === undefined) {
    throw new AppError('invalid', 'A second factor is required as well. Enter a code.', {
      code: '2fa_required',
      attr: 'token',
    });
  }
  await checkFactorCode(deps, user, body.token);
}

/**
 * Confirms a session with a passkey.
 * @returns whether the passkey counts as both factors, because the authenticator verified the user
 */
async function confirmByPasskey(
  deps: SignInDeps,
  { user, credential, request }: { user: SignInUser; credential: Record<string, unknown>; request: ApiRequest },
): Promise<boolean> {
  const shown = await checkDiscoverablePasskey(deps, { credential, request });
  if (shown.user.id === user.id) return shown.isVerified;
  throw new AppError('invalid', 'This passkey belongs to a different account.', {
    code: 'reauth_user_mismatch',
    attr: 'credential',
  });
}

async function confirmByPassword(
  { sql, passwords, signInLimits }: SignInDeps,
  { user, password, request }: { user: SignInUser; password: string | undefined; request: ApiRequest },
): Promise<void> {
  if (user.password_hash === null) {
    throw new AppError(
      'invalid',
      'This account does not have a password. Sign in again with a link, and set a password.',
      {
        code: 'no_password',
      },
    );
  }
  if (password === undefined) {
    throw new AppError('invalid', 'This field is required.', { code: 'required', attr: 'password' });
  }
  const device = await findKnownDevice(sql, request, user.email);
  const refundAttempt = await signInLimits.countAttempt(request.address, user.email, device);
  if ((await passwords.compare(password, user.password_hash)) === 'wrong') {
    throw new AppError('invalid', 'Your password is wrong.', { code: 'invalid_credentials', attr: 'password' });
  }
  await refundAttempt();
}
