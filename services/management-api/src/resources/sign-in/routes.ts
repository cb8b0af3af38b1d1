import { signOut } from '@millrace/accounts';
import { WithHeaders } from '@millrace/http';
import { defineRoute } from '../../access/define-route.ts';
import {
  refuseForeignPage,
  requireSessionPlace,
  sessionOf,
  withoutSession,
  withSession,
} from '../../access/session-cookie.ts';
import { waysInOf } from './enforcement.ts';
import { lookAtLink, type SignInDeps, signInByPassword, useLink } from './rules.ts';
import { done, linkLook, linkMeaning, linkUse, precheck, signIn, waysIn, waysInExample } from './schema.ts';

const tags: [string] = ['sign-in'];
const isDone = { success: true };
const secretExample = 'u3Vd0m9Jr1b8KcYw5hQ2sXe7LnPz4TfGaIoRxNqCvEk';

/** Signing in and out (docs/api-rules.md#sessions). */
export function signInRoutes(deps: SignInDeps) {
  const { sql, transaction, signInLimits, countSignIn } = deps;
  return [
    defineRoute({
      method: 'POST',
      path: '/api/login/precheck',
      operationId: 'login_precheck_create',
      summary: 'Ask how an address may sign in',
      description: 'What there is to sign in with; the same for an address that has no account.',
      tags,
      scope: 'public',
      body: precheck,
      responses: { 200: { description: 'The ways in.', schema: waysIn } },
      examples: { request: { email: 'ada@example.com' }, response: waysInExample },
      target: ({ request }) => signInLimits.countQuestion(request.address),
      handler: ({ body: { email }, request: { publicUrl } }) =>
        waysInOf(deps, { email, hasPublicUrl: publicUrl !== null }),
    }),
    defineRoute({
      method: 'POST',
      path: '/api/login',
      operationId: 'login_create',
      summary: 'Sign in with a password',
      description:
        'Begins a session, whose cookie is in the answer. An unknown address, a wrong password and a deactivated account are one answer. Where the account has a second factor, the answer to a right password is 401 `2fa_required`; `POST /api/login/token` goes on from there. Too many failures from one address are answered with 403 and the code `too_many_failed_attempts`.',
      tags,
      scope: 'public',
      body: signIn,
      responses: {
        200: { description: 'Signed in.', schema: done },
        401: { description: 'The password was right, and the second factor is wanted (`2fa_required`).' },
      },
      examples: { request: { email: 'ada@example.com', password: 'correct horse battery staple' }, response: isDone },
      target: async ({ request }) => {
        refuseForeignPage(request);
        requireSessionPlace(request);
      },
      handler: async ({ body, request }) =>
        countSignIn(
          'password',
          async () => new WithHeaders(isDone, withSession(request, await signInByPassword(deps, { ...body, request }))),
        ),
    }),
    defineRoute({
      method: 'POST',
      path: '/api/logout',
      operationId: 'logout_create',
      summary: 'Sign out',
      description: 'Ends the session of the cookie, if there is one, and takes the cookie away.',
      tags,
      scope: 'public',
      responses: { 204: { description: 'Signed out.' } },
      handler: async ({ request }) => {
        refuseForeignPage(request);
        const secret = sessionOf(request);
        if (secret !== null) await transaction((tx) => signOut(tx, secret));
        return new WithHeaders(undefined, withoutSession(request));
      },
    }),
    defineRoute({
      method: 'POST',
      path: '/api/console_link/look',
      operationId: 'console_link_look_create',
      summary: 'Look at a link that signs in',
      description: 'What the link does that `millrace console-link` made. Looking uses nothing up.',
      tags,
      scope: 'public',
      body: linkLook,
      responses: { 200: { description: 'What it does.', schema: linkMeaning } },
      examples: { request: { secret: secretExample }, response: { kind: 'sign_in', email: 'ada@example.com' } },
      target: ({ request }) => signInLimits.countQuestion(request.address),
      handler: ({ body }) => lookAtLink(sql, body.secret),
    }),
    defineRoute({
      method: 'POST',
      path: '/api/console_link',
      operationId: 'console_link_create',
      summary: 'Sign in with a link',
      description:
        'Begins a session by a link that `millrace console-link` made, and uses it up. A link for the first owner makes the account, an organization and a project, and needs `email`, `password` and `organization_name`.',
      tags,
      scope: 'public',
      body: linkUse,
      responses: { 200: { description: 'Signed in.', schema: done } },
      examples: { request: { secret: secretExample }, response: isDone },
      target: async ({ request }) => {
        refuseForeignPage(request);
        requireSessionPlace(request);
        await signInLimits.countQuestion(request.address);
      },
      handler: async ({ body, request }) =>
        countSignIn(
          'link',
          async () => new WithHeaders(isDone, withSession(request, await useLink(deps, { body, request }))),
        ),
    }),
  ];
}
