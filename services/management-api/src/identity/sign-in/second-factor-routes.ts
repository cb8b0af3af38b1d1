// Declares the routes for a signed-in user's second factors: authenticator app, backup codes and passkeys.

import {
  deletePasskey,
  findSecondFactors,
  listPasskeys,
  lockUserKeys,
  type Passkey,
  removeBackupCodes,
  renamePasskey,
  requiresSecondFactor,
} from '@millrace/accounts';
import { formatDateTime } from '@millrace/http';
import { AppError } from '@millrace/runtime';
import { type Static, Type } from 'typebox';
import { type Caller, requireSession, type SessionCredential } from '../../access/caller.ts';
import { defineRoute } from '../../access/define-route.ts';
import { requirePublicUrl } from '../../access/public-url.ts';
import { beginRegistration, finishRegistration, recordPasskey, requireOtherSignInMethod } from './passkeys.ts';
import { requireUser } from './rules.ts';
import {
  backupCodes,
  backupCodesExample,
  done,
  passkeyChanges,
  passkeyExample,
  passkeyOptions,
  passkeyRegistration,
  passkey as passkeySchema,
  secondFactorStatus,
  secondFactorStatusExample,
  totpCode,
  totpSetup,
} from './schema.ts';
import {
  beginTotpSetup,
  createBackupCodes,
  disableTotp,
  finishTotpSetup,
  requireRemainingFactor,
  type SecondFactorDeps,
} from './second-factor.ts';

const tags: [string] = ['sign-in'];
const own = '/api/users/@me';
const credentials = '/api/webauthn/credentials';
const params = Type.Object({ id: Type.String({ format: 'uuid', description: 'ID of the passkey.' }) });
const secretExample = 'JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP';

/**
 * Creates the second-factor routes, which require a session (docs/api/second-factors.md). Users who must set up a
 * factor before they can do anything else can use these routes too.
 */
export function secondFactorRoutes(deps: SecondFactorDeps) {
  const { sql, transaction, accountMailing } = deps;
  const target = async ({ caller }: { caller: Caller }): Promise<SessionCredential> => requireSession(caller);
  const read = { tags, scope: 'user:read', isBeforeSecondFactor: true, target } as const;
  const change = { tags, scope: 'user:write', isBeforeSecondFactor: true, isSensitive: true, target } as const;
  return [
    defineRoute({
      ...change,
      method: 'GET',
      isUnsafe: true,
      path: `${own}/two_factor_start_setup`,
      operationId: 'users_two_factor_start_setup_retrieve',
      summary: 'Start connecting an authenticator app',
      description:
        'Returns a new secret for an authenticator app. To finish, call `two_factor_validate` with a code from the ' +
        'app ' +
        'within ten minutes. Until then, the app is not required at sign-in. Requires a session.',
      responses: { 200: { description: 'The secret.', schema: totpSetup } },
      examples: {
        response: { success: true, secret: secretExample, uri: `otpauth://totp/Millrace:ada?secret=${secretExample}` },
      },
      handler: async ({ caller, target: session }) => {
        const user = await requireUser(sql, caller.userId);
        return { success: true, ...(await beginTotpSetup(deps, { session, user })) };
      },
    }),
    defineRoute({
      ...change,
      method: 'POST',
      path: `${own}/two_factor_validate`,
      operationId: 'users_two_factor_validate_create',
      summary: 'Connect an authenticator app',
      description:
        'Checks a code from the authenticator app and connects the app. From then on, a second factor is required ' +
        'after ' +
        'the password. The request also ends your other sessions and returns ten backup codes, which cannot be ' +
        'shown again. ' +
        'Requires a session.',
      body: totpCode,
      responses: { 200: { description: 'The app was connected.', schema: backupCodes } },
      examples: { request: { token: '123456' }, response: backupCodesExample },
      handler: async ({ caller, target: session, body }) => {
        const user = await requireUser(sql, caller.userId);
        return { success: true, backup_codes: await finishTotpSetup(deps, { session, user, code: body.token }) };
      },
    }),
    defineRoute({
      ...read,
      method: 'GET',
      path: `${own}/two_factor_status`,
      operationId: 'users_two_factor_status_retrieve',
      summary: 'Show your second factors',
      description: 'Returns your second factors, and whether they are required at sign-in. Requires a session.',
      responses: { 200: { description: 'The second factors.', schema: secondFactorStatus } },
      examples: { response: secondFactorStatusExample },
      handler: async ({ caller }): Promise<Static<typeof secondFactorStatus>> => {
        const factors = await findSecondFactors(sql, caller.userId);
        const isEnabled = requiresSecondFactor(factors);
        return {
          is_enabled: isEnabled,
          method: isEnabled ? (factors.hasTotp ? 'TOTP' : 'passkey') : null,
          backup_codes_remaining: factors.backupCodes,
          has_totp: factors.hasTotp,
          has_passkeys: factors.passkeys > 0,
          passkeys_enabled_for_2fa: factors.passkeysCount,
          is_demanded: factors.isDemanded,
        };
      },
    }),
    defineRoute({
      ...change,
      method: 'POST',
      path: `${own}/two_factor_backup_codes`,
      operationId: 'users_two_factor_backup_codes_create',
      summary: 'Create new backup codes',
      description:
        'Returns ten new backup codes, which cannot be shown again. The new codes replace all previous backup ' +
        'codes. Requires a session.',
      responses: { 200: { description: 'The backup codes.', schema: backupCodes } },
      examples: { response: backupCodesExample },
      handler: async ({ caller }) => ({
        success: true,
        backup_codes: await createBackupCodes(deps, await requireUser(sql, caller.userId)),
      }),
    }),
    defineRoute({
      ...change,
      method: 'POST',
      path: `${own}/two_factor_disable`,
      operationId: 'users_two_factor_disable_create',
      summary: 'Disconnect the authenticator app',
      description:
        'Disconnects the authenticator app, so that codes from the app are no longer required. The request is ' +
        'rejected if the app is your last second ' +
        'factor and one of your organizations requires a second factor. Requires a session.',
      responses: { 200: { description: 'The app was disconnected.', schema: done } },
      examples: { response: { success: true } },
      handler: async ({ caller }) => {
        await disableTotp(deps, await requireUser(sql, caller.userId));
        return { success: true };
      },
    }),
    defineRoute({
      ...change,
      method: 'POST',
      path: '/api/webauthn/register/begin',
      operationId: 'webauthn_register_begin_create',
      summary: 'Start registering a passkey',
      description:
        'Returns options for `navigator.credentials.create()`. The options are valid for five minutes. Requires a ' +
        'session.',
      responses: { 200: { description: 'The options.', schema: passkeyOptions } },
      examples: { response: { challenge: 'Zm9vYmFyYmF6', rp: { id: 'analytics.example', name: 'Millrace' } } },
      handler: async ({ caller, target: session, request }) => {
        const user = await requireUser(sql, caller.userId);
        return { ...(await beginRegistration(sql, { session, user, publicUrl: requirePublicUrl(request) })) };
      },
    }),
    defineRoute({
      ...change,
      method: 'POST',
      path: '/api/webauthn/register/complete',
      operationId: 'webauthn_register_complete_create',
      summary: 'Register a passkey',
      description:
        'Registers the passkey that the browser created. You can sign in with the passkey immediately. Requires a ' +
        'session.',
      body: passkeyRegistration,
      responses: { 201: { description: 'The passkey.', schema: passkeySchema } },
      examples: { request: { credential: { id: 'AQIDBA' }, label: 'Laptop' }, response: passkeyExample },
      handler: async ({ caller, target: session, body: { credential, label = 'Passkey' }, request }) => {
        const publicUrl = requirePublicUrl(request);
        const user = await requireUser(sql, caller.userId);
        return toPasskey(await finishRegistration(deps, { session, user, publicUrl, body: { credential, label } }));
      },
    }),
    defineRoute({
      ...read,
      method: 'GET',
      path: credentials,
      operationId: 'webauthn_credentials_list',
      summary: 'List your passkeys',
      description: 'Returns your passkeys, the oldest first. Requires a session.',
      responses: { 200: { description: 'The passkeys.', schema: Type.Array(passkeySchema) } },
      examples: { response: [passkeyExample] },
      handler: async ({ caller }) => (await listPasskeys(sql, caller.userId)).map(toPasskey),
    }),
    defineRoute({
      ...change,
      method: 'PATCH',
      path: `${credentials}/:id`,
      operationId: 'webauthn_credentials_partial_update',
      summary: 'Rename a passkey',
      description: 'Renames the passkey. Requires a session.',
      params,
      body: passkeyChanges,
      responses: { 200: { description: 'The passkey.', schema: passkeySchema } },
      examples: { request: { label: 'Laptop' }, response: passkeyExample },
      handler: async ({ caller, params: { id }, body: { label } }) => {
        const renamed = await transaction((tx) => renamePasskey(tx, caller.userId, { id, label }));
        if (!renamed) throw new AppError('not_found', 'Not found.');
        return toPasskey(renamed);
      },
    }),
    defineRoute({
      ...change,
      method: 'DELETE',
      path: `${credentials}/:id`,
      operationId: 'webauthn_credentials_destroy',
      summary: 'Remove a passkey',
      description:
        'Removes the passkey. The request is rejected if the passkey is your only sign-in method, or if it is your ' +
        'last second factor and one of your organizations requires a second factor. Requires a session.',
      params,
      responses: { 204: { description: 'The passkey was removed.' } },
      handler: async ({ caller, params: { id } }) => {
        const user = await requireUser(sql, caller.userId);
        await transaction(async (tx) => {
          await lockUserKeys(tx, user.id);
          const before = await findSecondFactors(tx, user.id);
          const removed = await deletePasskey(tx, user.id, id);
          if (!removed) throw new AppError('not_found', 'Not found.');
          await requireOtherSignInMethod(tx, user, before.passkeys);
          const remaining = { ...before, passkeys: before.passkeys - 1 };
          if (requiresSecondFactor(before)) requireRemainingFactor(remaining);
          if (!requiresSecondFactor(remaining)) await removeBackupCodes(tx, user.id);
          await recordPasskey(tx, user, { before: removed.label, after: null });
        });
        accountMailing.notifyUser(user, 'passkey_removed');
        return undefined;
      },
    }),
  ];
}

function toPasskey(row: Passkey) {
  return {
    id: row.id,
    label: row.label,
    created_at: formatDateTime(row.created_at),
    last_used_at: row.last_used_at && formatDateTime(row.last_used_at),
    transports: row.transports,
    verified: true,
    authenticator_type: row.authenticator_type as Static<typeof passkeySchema>['authenticator_type'],
  };
}
