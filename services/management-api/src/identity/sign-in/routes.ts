import { signOut } from '@millrace/accounts';
import { WithHeaders } from '@millrace/http';
import { defineRoute } from '../../access/define-route.ts';
import {
  deleteSessionCookie,
  readSessionCookie,
  rejectForeignPage,
  requireSecureOrigin,
  setSessionCookies,
} from '../../access/session-cookie.ts';
import { findSignInMethods } from './enforcement.ts';
import { describeSignInLink, type SignInDeps, signInByLink, signInByPassword } from './rules.ts';
import {
  done,
  linkDescription,
  linkLookup,
  linkUse,
  precheck,
  signIn,
  signInMethods,
  signInMethodsExample,
} from './schema.ts';

const tags: [string] = ['sign-in'];
const isDone = { success: true };
const secretExample = 'u3Vd0m9Jr1b8KcYw5hQ2sXe7LnPz4TfGaIoRxNqCvEk';

export function signInRoutes(deps: SignInDeps) {
  const { sql, transaction, signInLimits, countSignIn } = deps;
  return [
    defineRoute({
      method: 'POST',
      path: '/api/login/precheck',
      operationId: 'login_precheck_create',
      summary: 'List sign-in methods for an email address',
      description:
        'Returns the sign-in methods that are available for an email address. The response does not reveal whether ' +
        'the ' +
        'address has an account.',
      tags,
      scope: 'public',
      body: precheck,
      responses: { 200: { description: 'The sign-in methods.', schema: signInMethods } },
      examples: { request: { email: 'ada@example.com' }, response: signInMethodsExample },
      target: ({ request }) => signInLimits.countAnonymousRequest(request.address),
      handler: ({ body: { email }, request: { publicUrl } }) =>
        findSignInMethods(deps, { email, hasPublicUrl: publicUrl !== null }),
    }),
    defineRoute({
      method: 'POST',
      path: '/api/login',
      operationId: 'login_create',
      summary: 'Sign in with a password',
      description:
        'Starts a session and sets its cookie. The response is the same for an unknown email address, a wrong password and a ' +
        'deactivated account. If the account has a second factor, the response to a correct password is 401 `2fa_required`, and the ' +
        'sign-in continues with `POST /api/login/token`. After too many failed attempts from one IP address, the ' +
        'response ' +
        'is 403 `too_many_failed_attempts`.',
      tags,
      scope: 'public',
      body: signIn,
      responses: {
        200: { description: 'The user is signed in.', schema: done },
        401: { description: 'The password is correct, and a second factor is required (`2fa_required`).' },
      },
      examples: { request: { email: 'ada@example.com', password: 'correct horse battery staple' }, response: isDone },
      target: async ({ request }) => {
        rejectForeignPage(request);
        requireSecureOrigin(request);
      },
      handler: async ({ body, request }) =>
        countSignIn(
          'password',
          async () =>
            new WithHeaders(isDone, setSessionCookies(request, await signInByPassword(deps, { ...body, request }))),
        ),
    }),
    defineRoute({
      method: 'POST',
      path: '/api/logout',
      alias: '/logout',
      operationId: 'logout_create',
      summary: 'Sign out',
      description: 'Ends the session that the cookie belongs to, if any, and deletes the cookie.',
      tags,
      scope: 'public',
      responses: { 204: { description: 'The user is signed out.' } },
      handler: async ({ request }) => {
        rejectForeignPage(request);
        const secret = readSessionCookie(request);
        if (secret !== null) await transaction((tx) => signOut(tx, secret));
        return new WithHeaders(undefined, deleteSessionCookie(request));
      },
    }),
    defineRoute({
      method: 'POST',
      path: '/api/console_link/look',
      operationId: 'console_link_look_create',
      summary: 'Check a sign-in link',
      description:
        'Returns the purpose of a link created with `millrace console-link`. The check does not use up the link.',
      tags,
      scope: 'public',
      body: linkLookup,
      responses: { 200: { description: 'Purpose of the link.', schema: linkDescription } },
      examples: { request: { secret: secretExample }, response: { kind: 'sign_in', email: 'ada@example.com' } },
      target: ({ request }) => signInLimits.countAnonymousRequest(request.address),
      handler: ({ body }) => describeSignInLink(sql, body.secret),
    }),
    defineRoute({
      method: 'POST',
      path: '/api/console_link',
      operationId: 'console_link_create',
      summary: 'Sign in with a link',
      description:
        'Starts a session with a link created with `millrace console-link`. The link can be used once. A link for ' +
        'the ' +
        'first owner creates the account, an organization and a project, and requires `email`, `password` and ' +
        '`organization_name`.',
      tags,
      scope: 'public',
      body: linkUse,
      responses: { 200: { description: 'The user is signed in.', schema: done } },
      examples: { request: { secret: secretExample }, response: isDone },
      target: async ({ request }) => {
        rejectForeignPage(request);
        requireSecureOrigin(request);
        await signInLimits.countAnonymousRequest(request.address);
      },
      handler: async ({ body, request }) =>
        countSignIn(
          'link',
          async () => new WithHeaders(isDone, setSessionCookies(request, await signInByLink(deps, { body, request }))),
        ),
    }),
  ];
}
