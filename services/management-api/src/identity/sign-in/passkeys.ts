// Registers passkeys, and checks passkeys at sign-in or as a second factor (docs/api/passkeys.md).

import {
  beginSignInStep,
  consumeSignInStep,
  findPasskey,
  findSignInUser,
  hasIdentity,
  insertPasskey,
  listPasskeys,
  lockUserKeys,
  type Passkey,
  recordOwnActivity,
  recordPasskeyUse,
  type SignInUser,
} from '@millrace/accounts';
import { isObject } from '@millrace/contracts';
import type { Sql, Transaction } from '@millrace/db';
import type { ApiRequest } from '@millrace/http';
import { AppError } from '@millrace/runtime';
import {
  type AuthenticationResponseJSON,
  type AuthenticatorTransport,
  generateAuthenticationOptions,
  generateRegistrationOptions,
  type RegistrationResponseJSON,
  verifyAuthenticationResponse,
  verifyRegistrationResponse,
} from '@simplewebauthn/server';
import { v7 as uuidv7 } from 'uuid';
import type { SessionCredential } from '../../access/caller.ts';
import { requirePublicUrl } from '../../access/public-url.ts';
import { readStepCookie } from '../../access/session-cookie.ts';
import type { SecondFactorDeps } from './second-factor.ts';

const name = 'Millrace';
/** COSE identifiers of ES256, EdDSA, ES512, RS256, RS384 and RS512. */
const algorithms = [-7, -8, -36, -257, -258, -259];
const maxPasskeys = 20;

/**
 * Returns the host and origin that passkeys are bound to. A passkey does not work under another URL of the
 * installation.
 */
function placeOf(publicUrl: string): { rpID: string; expectedOrigin: string } {
  const { hostname, origin } = new URL(publicUrl);
  return { rpID: hostname, expectedOrigin: origin };
}

export async function beginRegistration(
  sql: Sql,
  { session, user, publicUrl }: { session: SessionCredential; user: SignInUser; publicUrl: string },
) {
  const existing = await listPasskeys(sql, user.id);
  if (existing.length >= maxPasskeys) {
    throw new AppError(
      'invalid',
      `An account can have at most ${maxPasskeys} passkeys. Remove one before you add another.`,
      { code: 'limit_reached' },
    );
  }
  const options = await generateRegistrationOptions({
    rpName: name,
    rpID: placeOf(publicUrl).rpID,
    userID: handleOf(user.uuid),
    userName: user.email,
    userDisplayName: user.first_name || user.email,
    attestationType: 'none',
    authenticatorSelection: { residentKey: 'required', userVerification: 'preferred' },
    supportedAlgorithmIDs: algorithms,
    excludeCredentials: existing.map(descriptorOf),
  });
  const data = { challenge: options.challenge };
  await beginSignInStep(sql, { kind: 'passkey_registration', userId: user.id, data, secret: session.id });
  return options;
}

/**
 * Registers a passkey.
 * @throws AppError `invalid` naming `credential` if the passkey belongs to a different challenge, page or installation,
 *   or is already registered
 */
export async function finishRegistration(
  { sql, transaction, accountMailing }: SecondFactorDeps,
  {
    session,
    user,
    publicUrl,
    body,
  }: {
    session: SessionCredential;
    user: SignInUser;
    publicUrl: string;
    body: { credential: Record<string, unknown>; label: string };
  },
): Promise<Passkey> {
  const begun = await consumeSignInStep(sql, 'passkey_registration', session.id);
  if (begun === undefined) throw challengeError();
  const { rpID, expectedOrigin } = placeOf(publicUrl);
  refuseForeignFrame(body.credential);
  const { registrationInfo: info } = await verified(
    verifyRegistrationResponse({
      response: body.credential as unknown as RegistrationResponseJSON,
      expectedChallenge: String(begun.data.challenge),
      expectedOrigin,
      expectedRPID: rpID,
      requireUserVerification: false,
      supportedAlgorithmIDs: algorithms,
    }),
  );
  if (!info) throw passkeyError();
  const transports = info.credential.transports ?? [];
  const passkey = await transaction(async (tx) => {
    await lockUserKeys(tx, user.id);
    const inserted = await insertPasskey(tx, {
      id: uuidv7(),
      user_id: user.id,
      credential_id: info.credential.id,
      public_key: Buffer.from(info.credential.publicKey),
      counter: info.credential.counter,
      transports,
      label: body.label,
      authenticator_type: typeOf(body.credential.authenticatorAttachment, transports),
    });
    if (inserted === undefined) throw passkeyError('This passkey is already registered.');
    await recordPasskey(tx, user, { before: null, after: body.label });
    return inserted;
  });
  accountMailing.notifyUser(user, 'passkey_added');
  return passkey;
}

/**
 * Creates the options for `navigator.credentials.get()`. If the user is known, the options list the user's passkeys.
 */
export async function createPasskeyChallenge(
  publicUrl: string,
  { passkeys = [], needsVerification = false }: { passkeys?: readonly Passkey[]; needsVerification?: boolean } = {},
) {
  return generateAuthenticationOptions({
    rpID: placeOf(publicUrl).rpID,
    userVerification: needsVerification ? 'required' : 'preferred',
    allowCredentials: passkeys.map(descriptorOf),
  });
}

/**
 * Verifies the response of a passkey, and records its use.
 * @param userId the expected user, or null if the passkey identifies the user
 * @param needsVerification whether the authenticator must have verified the user, for example by a PIN
 * @returns `isVerified` if the authenticator verified the user by a fingerprint or PIN. The passkey then counts as both
 *   factors.
 * @throws AppError `invalid` with code `2fa_invalid_passkey` naming `credential`
 */
export async function checkPasskey(
  { sql, transaction, accountMailing }: Pick<SecondFactorDeps, 'sql' | 'transaction' | 'accountMailing'>,
  {
    credential,
    challenge,
    publicUrl,
    userId,
    needsVerification = false,
  }: {
    credential: Record<string, unknown>;
    challenge: string;
    publicUrl: string;
    userId: number | null;
    needsVerification?: boolean;
  },
): Promise<{ user: SignInUser; isVerified: boolean }> {
  const passkey = typeof credential.id === 'string' ? await findPasskey(sql, credential.id) : undefined;
  const user = passkey && (await findSignInUser(sql, { id: passkey.user_id }));
  if (!passkey || !user?.is_active || (userId !== null && userId !== user.id)) throw passkeyError();
  const response = credential as unknown as AuthenticationResponseJSON;
  const handle = response.response?.userHandle;
  // If the challenge did not list passkeys, the user handle identifies the user. If it did, the handle can be missing,
  // but must not belong to another user.
  const isHandled = handle === undefined || handle === null ? userId !== null : isHandleOf(handle, user.uuid);
  if (!isHandled) throw passkeyError();
  const { rpID, expectedOrigin } = placeOf(publicUrl);
  refuseForeignFrame(response);
  const { verified: isRight, authenticationInfo } = await verified(
    verifyAuthenticationResponse({
      response,
      expectedChallenge: challenge,
      expectedOrigin,
      expectedRPID: rpID,
      requireUserVerification: false,
      // The library does not check the counter. The statement below checks and updates it.
      credential: { id: passkey.credential_id, publicKey: new Uint8Array(passkey.public_key), counter: 0 },
    }),
  );
  if (!isRight) throw passkeyError();
  if (needsVerification && !authenticationInfo.userVerified) {
    throw passkeyError(
      'You already used a passkey as the first factor. Enter a code, or use a passkey that asks for your PIN or ' +
        'fingerprint.',
    );
  }
  if (!(await transaction((tx) => recordPasskeyUse(tx, passkey.id, authenticationInfo.newCounter)))) {
    accountMailing.notifyUser(user, 'passkey_refused');
    throw passkeyError(
      "This passkey's signature counter has decreased, so the passkey may be a copy. Use a different passkey.",
    );
  }
  return { user, isVerified: authenticationInfo.userVerified };
}

/**
 * Checks the response to a challenge from `POST /api/webauthn/login/begin`. Any passkey can sign such a challenge, and
 * each challenge can be used only once.
 * @throws AppError like `checkPasskey`, or `invalid` with code `2fa_no_challenge`
 */
export async function checkDiscoverablePasskey(
  deps: Parameters<typeof checkPasskey>[0],
  { credential, request }: { credential: Record<string, unknown>; request: ApiRequest },
): ReturnType<typeof checkPasskey> {
  const secret = readStepCookie(request);
  const step = secret === null ? undefined : await consumeSignInStep(deps.sql, 'passkey_sign_in', secret);
  if (step === undefined) throw challengeError();
  const challenge = String(step.data.challenge);
  return checkPasskey(deps, { credential, challenge, publicUrl: requirePublicUrl(request), userId: null });
}

/**
 * Rejects a response from a page inside a frame of another site, where users cannot see which site requests the
 * passkey. Millrace never allows frames. This check is necessary because the library accepts registrations from frames,
 * and so do browsers that do not report the top origin, such as Safari
 * (https://www.w3.org/TR/webauthn-3/#dom-collectedclientdata-crossorigin).
 */
function refuseForeignFrame(credential: { response?: unknown }): void {
  const { clientDataJSON } = (credential.response ?? {}) as { clientDataJSON?: unknown };
  const { crossOrigin = false, topOrigin } = parseClientData(clientDataJSON);
  if (crossOrigin === false && topOrigin === undefined) return;
  throw passkeyError(
    'Passkeys cannot be used while this page is embedded in another website. Open the page in its own tab.',
  );
}

function parseClientData(text: unknown): Record<string, unknown> {
  try {
    const data: unknown = JSON.parse(Buffer.from(String(text), 'base64url').toString());
    return isObject(data) ? data : {};
  } catch {
    // The library rejects invalid client data with its own error.
    return {};
  }
}

/** Runs one of the library's checks. Data from the browser causes its errors, so they become client errors. */
async function verified<T>(work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    throw passkeyError(undefined, error);
  }
}

export function passkeyError(
  detail = 'This passkey is unknown, or its response is not valid. Try again, or use a different passkey.',
  cause?: unknown,
): AppError {
  return new AppError('invalid', detail, { code: '2fa_invalid_passkey', attr: 'credential', cause });
}

export function challengeError(): AppError {
  return new AppError('invalid', 'The passkey request has expired or was already used. Start again.', {
    code: '2fa_no_challenge',
  });
}

/**
 * Checks that the user can still sign in after the removal of a passkey.
 * @param passkeys how many passkeys the user had before the removal
 * @throws AppError `invalid` with code `last_sign_in_method` if the user has no password, no other passkey and no
 *   provider
 */
export async function requireOtherSignInMethod(sql: Sql, user: SignInUser, passkeys: number): Promise<void> {
  if (user.password_hash !== null || passkeys > 1 || (await hasIdentity(sql, user.id))) return;
  throw new AppError('invalid', 'This passkey is your only sign-in method. Set a password before you remove it.', {
    code: 'last_sign_in_method',
  });
}

export async function recordPasskey(
  tx: Transaction,
  user: SignInUser,
  { before, after }: { before: string | null; after: string | null },
): Promise<void> {
  await recordOwnActivity(tx, user, {
    activity: 'updated',
    change: { before: { passkey: before }, after: { passkey: after } },
  });
}

/** Returns the user ID that authenticators store: 16 bytes that reveal nothing about the user. */
function handleOf(uuid: string): Uint8Array<ArrayBuffer> {
  return Uint8Array.from(Buffer.from(uuid.replaceAll('-', ''), 'hex'));
}

function isHandleOf(handle: string, uuid: string): boolean {
  return Buffer.from(handle, 'base64url').equals(handleOf(uuid));
}

function descriptorOf({ credential_id: id, transports }: Passkey) {
  return { id, transports: transports as AuthenticatorTransport[] };
}

function typeOf(attachment: unknown, transports: readonly string[]): string {
  if (attachment === 'platform') return 'platform';
  if (transports.includes('hybrid')) return 'hybrid';
  return attachment === 'cross-platform' ? 'hardware' : 'unknown';
}
