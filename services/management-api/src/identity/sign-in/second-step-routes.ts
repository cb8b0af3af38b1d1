// Declares the routes for the second step of a sign-in, and for passkey sign-in, which has only one step.

import {
  beginSignInStep,
  consumeSignInStep,
  findSecondFactors,
  findSignInStep,
  findSignInUser,
  listPasskeys,
  lockUserKeys,
  type NewSession,
  type SignInUser,
  updateSignInStep,
} from '@millrace/accounts';
import { type ApiRequest, WithHeaders } from '@millrace/http';
import { AppError } from '@millrace/runtime';
import { defineRoute } from '../../access/define-route.ts';
import { requirePublicUrl } from '../../access/public-url.ts';
import {
  readStepCookie,
  rejectForeignPage,
  requireSecureOrigin,
  type SignedIn,
  setSessionCookies,
  setStepCookie,
} from '../../access/session-cookie.ts';
import { rejectEnforced } from './enforcement.ts';
import {
  challengeError,
  checkDiscoverablePasskey,
  checkPasskey,
  createPasskeyChallenge,
  passkeyError,
} from './passkeys.ts';
import { findKnownDevice, type SignInDeps, startSession } from './rules.ts';
import { done, passkeyOptions, passkeySignIn, secondStep, secondStepMethods } from './schema.ts';
import { checkFactorCode, createSecondFactorError, findSecondFactor } from './second-factor.ts';

const tags: [string] = ['sign-in'];
const isDone = { success: true };
const optionsExample = { challenge: 'Zm9vYmFyYmF6', rpId: 'analytics.example', userVerification: 'preferred' };

export function secondStepRoutes(deps: SignInDeps) {
  const { sql, transaction, signInLimits, countSignIn } = deps;
  const beforeAnybody = async ({ request }: { request: ApiRequest }) => {
    rejectForeignPage(request);
    requireSecureOrigin(request);
    await signInLimits.countAnonymousRequest(request.address);
  };

  /** Finds the browser's unfinished sign-in. @throws AppError `invalid` with code `2fa_expired` */
  async function requireUnfinishedSignIn(request: ApiRequest) {
    const secret = readStepCookie(request);
    const step = secret === null ? undefined : await findSignInStep(sql, 'second_factor', secret);
    const user = step?.userId ? await findSignInUser(sql, { id: step.userId }) : undefined;
    if (secret === null || !step || !user?.is_active) throw expired();
    // Require user verification if the first factor was a passkey. Otherwise, one authenticator would count as both
    // factors.
    const needsVerification = step.data.method === 'passkey';
    return { secret, user, challenge: step.data.challenge, needsVerification };
  }

  async function finish(
    request: ApiRequest,
    user: SignInUser,
    { secret, ...how }: Pick<Parameters<typeof startSession>[3], 'secondFactor' | 'remember'> & { secret: string },
  ): Promise<SignedIn> {
    return transaction(async (tx) => {
      await lockUserKeys(tx, user.id);
      const step = await consumeSignInStep(tx, 'second_factor', secret);
      const current = await findSignInUser(tx, { id: user.id });
      // The unfinished sign-in was deleted if the password changed, a factor was removed, or the user was deactivated.
      if (!step || !current?.is_active) throw expired();
      // The cast is safe, because `findSecondFactor` has stored a valid method.
      const method = step.data.method as NewSession['method'];
      return startSession(deps, tx, request, { user: current, method, ...how });
    });
  }

  return [
    defineRoute({
      method: 'GET',
      path: '/api/login/2fa/methods',
      operationId: 'login_2fa_methods_retrieve',
      summary: 'List second factors for a sign-in',
      description:
        'Returns the second factors that can be used to continue a sign-in after a `2fa_required` response. The ' +
        'request must come from the browser that started the sign-in.',
      tags,
      scope: 'public',
      responses: { 200: { description: 'The available second factors.', schema: secondStepMethods } },
      examples: { response: { has_totp: true, has_passkeys: false } },
      handler: async ({ request }) => {
        const { user } = await requireUnfinishedSignIn(request);
        const { hasTotp, passkeys } = await findSecondFactors(sql, user.id);
        return { has_totp: hasTotp, has_passkeys: passkeys > 0 };
      },
    }),
    defineRoute({
      method: 'POST',
      path: '/api/login/2fa/passkey/begin',
      operationId: 'login_2fa_passkey_begin_create',
      summary: 'Start the second factor with a passkey',
      description:
        'Returns options for `navigator.credentials.get()`. Send the resulting credential to `POST /api/login/token`.',
      tags,
      scope: 'public',
      responses: { 200: { description: 'The options.', schema: passkeyOptions } },
      examples: { response: optionsExample },
      target: beforeAnybody,
      handler: async ({ request }) => {
        const { secret, user, needsVerification } = await requireUnfinishedSignIn(request);
        const passkeys = await listPasskeys(sql, user.id);
        const options = await createPasskeyChallenge(requirePublicUrl(request), { passkeys, needsVerification });
        await updateSignInStep(sql, 'second_factor', { secret, data: { challenge: options.challenge } });
        return { ...options };
      },
    }),
    defineRoute({
      method: 'POST',
      path: '/api/login/token',
      operationId: 'login_token_create',
      summary: 'Complete a sign-in with a second factor',
      description:
        'Completes a sign-in after a `2fa_required` response. The request must be sent within ten minutes, ' +
        'from the browser that started the sign-in. Send either `token` (a code from the authenticator app, or a ' +
        'backup code) or `credential` (the passkey response). If the first factor was a passkey without user ' +
        'verification, `credential` must be ' +
        'from a passkey with user verification.',
      tags,
      scope: 'public',
      body: secondStep,
      responses: { 200: { description: 'The user is signed in.', schema: done } },
      examples: { request: { token: '123456', remember: true }, response: isDone },
      target: async ({ request }) => {
        rejectForeignPage(request);
        requireSecureOrigin(request);
      },
      handler: ({ body: { token, credential, remember = false }, request }) =>
        countSignIn('second_factor', async () => {
          const { secret, user, challenge, needsVerification } = await requireUnfinishedSignIn(request);
          if (credential !== undefined) {
            if (typeof challenge !== 'string') throw challengeError();
            // Each challenge can be used only once, even if the check fails.
            await updateSignInStep(sql, 'second_factor', { secret, data: { challenge: null } });
            const publicUrl = requirePublicUrl(request);
            await checkPasskey(deps, { credential, challenge, publicUrl, userId: user.id, needsVerification });
          } else if (token === undefined) {
            throw new AppError('invalid', 'This field is required.', { code: 'required', attr: 'token' });
          }
          const secondFactor = token === undefined || credential ? 'passkey' : await checkFactorCode(deps, user, token);
          return new WithHeaders(
            isDone,
            setSessionCookies(request, await finish(request, user, { secret, secondFactor, remember })),
          );
        }),
    }),
    defineRoute({
      method: 'POST',
      path: '/api/webauthn/login/begin',
      operationId: 'webauthn_login_begin_create',
      summary: 'Start a sign-in with a passkey',
      description:
        'Returns options for `navigator.credentials.get()`. With these options, the browser offers all passkeys ' +
        'that it has for this installation.',
      tags,
      scope: 'public',
      responses: { 200: { description: 'The options.', schema: passkeyOptions } },
      examples: { response: optionsExample },
      target: beforeAnybody,
      handler: async ({ request }) => {
        const options = await createPasskeyChallenge(requirePublicUrl(request));
        const data = { challenge: options.challenge };
        const step = await beginSignInStep(sql, { kind: 'passkey_sign_in', userId: null, data });
        return new WithHeaders({ ...options }, setStepCookie(request, step));
      },
    }),
    defineRoute({
      method: 'POST',
      path: '/api/webauthn/login/complete',
      operationId: 'webauthn_login_complete_create',
      summary: 'Sign in with a passkey',
      description:
        'Starts a session for the owner of the passkey. If the authenticator did not verify the user, for example with a PIN, a second factor is required, as it is after a password.',
      tags,
      scope: 'public',
      body: passkeySignIn,
      responses: {
        200: { description: 'The user is signed in.', schema: done },
        401: { description: 'A second factor is required (`2fa_required`).' },
      },
      examples: { request: { credential: { id: 'AQIDBA' } }, response: isDone },
      target: beforeAnybody,
      handler: ({ body: { credential }, request }) =>
        countSignIn('passkey', async () => {
          const { user, isVerified } = await checkDiscoverablePasskey(deps, { credential, request });
          await rejectEnforced(deps, user.email);
          const signedIn = await transaction(async (tx) => {
            await lockUserKeys(tx, user.id);
            if (!(await findSignInUser(tx, { id: user.id }))?.is_active) throw passkeyError();
            const device = await findKnownDevice(tx, request, user.email);
            const factor = isVerified
              ? ({ shown: 'passkey' } as const)
              : await findSecondFactor(tx, user, { device, method: 'passkey' });
            if ('step' in factor) return factor;
            return startSession(deps, tx, request, { user, method: 'passkey', secondFactor: factor.shown });
          });
          if ('step' in signedIn) throw createSecondFactorError(request, signedIn.step);
          return new WithHeaders(isDone, setSessionCookies(request, signedIn));
        }),
    }),
  ];
}

function expired(): AppError {
  return new AppError('invalid', 'This sign-in took longer than ten minutes. Start again.', {
    code: '2fa_expired',
  });
}
