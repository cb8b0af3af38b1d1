// What a person who is signed in does with their sessions.

import { endSessionOf, endSessionsOf, findSigningIn, renewSessionSecret, selectSessions } from '@millrace/accounts';
import { WithHeaders } from '@millrace/http';
import { AppError } from '@millrace/runtime';
import { Type } from 'typebox';
import { type Caller, requireSession, type SessionCredential } from '../../access/caller.ts';
import { defineRoute } from '../../access/define-route.ts';
import { withSession } from '../../access/session-cookie.ts';
import { knownDeviceOf, type SignInDeps } from './rules.ts';
import {
  done,
  loginSession,
  loginSessionExample,
  reauthentication,
  revokedSessions,
  toLoginSession,
} from './schema.ts';

const tags: [string] = ['sign-in'];
const path = '/api/users/@me/login_sessions';

/** Each needs a session (docs/api-rules.md#sessions): a key would end what it does not know. */
export function sessionRoutes({ sql, passwords, signInLimits }: SignInDeps) {
  const target = async ({ caller }: { caller: Caller }): Promise<SessionCredential> => requireSession(caller);
  return [
    defineRoute({
      method: 'GET',
      path,
      operationId: 'users_login_sessions_list',
      summary: 'List your sessions',
      description: 'Where you are signed in, the last used first. Needs a session.',
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
      description: 'Signs out everywhere but here. Needs a session.',
      tags,
      scope: 'user:write',
      isSensitive: true,
      responses: { 200: { description: 'How many ended.', schema: revokedSessions } },
      examples: { response: { revoked_count: 2 } },
      target,
      handler: async ({ caller, target: { id } }) => ({
        revoked_count: await endSessionsOf(sql, caller.userId, { except: id }),
      }),
    }),
    defineRoute({
      method: 'DELETE',
      path: `${path}/:id`,
      operationId: 'users_login_sessions_destroy',
      summary: 'End a session',
      description: 'Signs a browser out; its next request is refused. Needs a session.',
      tags,
      scope: 'user:write',
      isSensitive: true,
      params: Type.Object({ id: Type.String({ description: 'Id (UUID) of the session.' }) }),
      responses: { 204: { description: 'Ended.' } },
      target,
      handler: async ({ caller, params }) => {
        if (await endSessionOf(sql, caller.userId, params.id)) return undefined;
        throw new AppError('not_found', 'Not found.');
      },
    }),
    defineRoute({
      method: 'POST',
      path: '/api/reauthenticate',
      operationId: 'reauthenticate_create',
      summary: 'Confirm that it is you',
      description:
        'Allows the session for two more hours what needs a recent sign-in. The cookie changes. Needs a session.',
      tags,
      scope: 'user:write',
      body: reauthentication,
      responses: { 200: { description: 'Confirmed.', schema: done } },
      examples: { request: { password: 'correct horse battery staple' }, response: { success: true } },
      target,
      handler: async ({ caller, target: { id }, body, request }) => {
        const user = await findSigningIn(sql, { id: caller.userId });
        if (user?.password_hash === null) {
          throw new AppError('invalid', 'This account has no password. Sign in again by a link, and set one.', {
            code: 'no_password',
          });
        }
        const account = user?.email ?? '';
        const device = await knownDeviceOf(sql, request, account);
        const takeBack = await signInLimits.countTry(request.address, account, device);
        if ((await passwords.compare(body.password, user?.password_hash ?? null)) === 'wrong') {
          throw new AppError('invalid', 'Your password is wrong.', { code: 'invalid_credentials', attr: 'password' });
        }
        await takeBack();
        return new WithHeaders(
          { success: true },
          withSession(request, { session: await renewSessionSecret(sql, id), device: null }),
        );
      },
    }),
  ];
}
