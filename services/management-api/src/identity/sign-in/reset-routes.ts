import { parseEmailAddress } from '@millrace/accounts';
import { Type } from 'typebox';
import { defineRoute } from '../../access/define-route.ts';
import { rejectEnforced } from './enforcement.ts';
import { requireResetLink, resetPassword, type SignInDeps } from './rules.ts';
import { passwordResetConfirm, resetDone, resetIsValid, resetLookup, resetRequest } from './schema.ts';

const tags: [string] = ['sign-in'];
const resetParams = Type.Object({ user_uuid: Type.String({ format: 'uuid', description: 'UUID of the user.' }) });
const secretExample = 'u3Vd0m9Jr1b8KcYw5hQ2sXe7LnPz4TfGaIoRxNqCvEk';

export function resetRoutes(deps: SignInDeps) {
  const { sql, signInLimits, accountMailing } = deps;
  return [
    defineRoute({
      method: 'POST',
      path: '/api/reset',
      operationId: 'reset_create',
      summary: 'Request a password reset',
      description:
        'Sends a password reset link by email if an account with this email address exists and the installation has ' +
        'a mail server. The response does not reveal whether the account exists. Requests for an address in a ' +
        'domain that enforces single sign-on are rejected with 400 `sso_enforced`.',
      tags,
      scope: 'public',
      body: resetRequest,
      responses: { 204: { description: 'The request was accepted.' } },
      examples: { request: { email: 'ada@example.com' } },
      handler: async ({ body, request }) => {
        const account = parseEmailAddress(body.email);
        if (account !== null) await rejectEnforced(deps, account);
        await signInLimits.countReset(request.address, account ?? body.email);
        if (account !== null) accountMailing.sendReset(account);
        return undefined;
      },
    }),
    defineRoute({
      method: 'POST',
      path: '/api/reset/:user_uuid/look',
      operationId: 'reset_look_create',
      summary: 'Check a password reset link',
      description:
        'Checks whether the secret from the email is still valid. The check does not use up the secret. The secret ' +
        'is sent in the body because access logs contain query strings.',
      tags,
      scope: 'public',
      params: resetParams,
      body: resetLookup,
      responses: { 200: { description: 'The secret is valid.', schema: resetIsValid } },
      examples: { request: { token: secretExample }, response: {} },
      target: ({ request }) => signInLimits.countAnonymousRequest(request.address),
      handler: async ({ params, body }) => {
        await requireResetLink(sql, params.user_uuid, body.token);
        return {};
      },
    }),
    defineRoute({
      method: 'POST',
      path: '/api/reset/:user_uuid',
      operationId: 'reset_update_create',
      summary: 'Set a new password',
      description: "Sets the password and ends all of the user's sessions. Does not sign the user in.",
      tags,
      scope: 'public',
      params: resetParams,
      body: passwordResetConfirm,
      responses: { 200: { description: 'The password was set.', schema: resetDone } },
      examples: {
        request: { token: secretExample, password: 'correct horse battery staple' },
        response: { success: true, email: 'ada@example.com' },
      },
      target: ({ request }) => signInLimits.countAnonymousRequest(request.address),
      handler: async ({ params, body }) => ({
        success: true,
        email: await resetPassword(deps, params.user_uuid, body),
      }),
    }),
  ];
}
