// Changes the caller's own user: name, settings, current environment, and whether a passkey is required.

import {
  changeUserFields,
  endUserSessions,
  findSecondFactors,
  isRowId,
  lockUserKeys,
  recordOwnActivity,
  recordSecondFactor,
  removeBackupCodes,
  requiresSecondFactor,
  setCurrentEnvironment,
  setPasskeysAsSecondFactor,
  type UserFields,
} from '@millrace/accounts';
import { findEnvironment } from '@millrace/accounts/access';
import type { Transaction } from '@millrace/db';
import { AppError } from '@millrace/runtime';
import type { Static } from 'typebox';
import {
  type Caller,
  getVisibleOrganizationIds,
  hasLimitedReach,
  requireRecentSignIn,
  requireSession,
} from '../../access/caller.ts';
import type { Notice } from '../sign-in/account-mailing.ts';
import { requireUser } from '../sign-in/rules.ts';
import { requireRemainingFactor } from '../sign-in/second-factor.ts';
import type { userChanges } from './schema.ts';
import { findUser } from './store.ts';

/**
 * Changes the caller's own user (docs/api/users.md). If the request contains an environment, its organization also
 * becomes the current one. If the request contains only an organization, the organization's first environment becomes
 * the current one.
 * @throws AppError `invalid` naming `hedgehog_config` if it is too large, `invalid` naming `set_current_organization`
 *   or `set_current_team` with `does_not_exist` if the caller has no access, or for an environment of another
 *   organization, or `forbidden` if the API key is limited and would change what `@current` refers to
 */
export async function updateOwnUser(
  tx: Transaction,
  caller: Caller,
  {
    set_current_organization: organization,
    set_current_team: team,
    ...fields
  }: Omit<Static<typeof userChanges>, 'password' | 'current_password' | 'email' | 'passkeys_enabled_for_2fa'>,
): Promise<void> {
  if (fields.first_name !== undefined || fields.last_name !== undefined) requireRecentSignIn(caller);
  await changeFields(tx, caller, fields);
  if (organization !== undefined || team !== undefined) {
    await changeCurrentEnvironment(tx, caller, { organizationId: organization?.toLowerCase(), team });
  }
}

/**
 * Sets whether sign-in by password also requires a passkey.
 * @returns the notice for the user, or null if nothing changed
 * @throws AppError `forbidden` for keys and if the sign-in is too old, or `invalid` with `no_passkeys` or
 *   `2fa_demanded`
 */
export async function requirePasskeyAfterPassword(
  tx: Transaction,
  caller: Caller,
  count: boolean,
): Promise<Notice | null> {
  const session = requireSession(caller);
  requireRecentSignIn(caller);
  await lockUserKeys(tx, caller.userId);
  const factors = await findSecondFactors(tx, caller.userId);
  if (count && factors.passkeys === 0) {
    throw new AppError('invalid', 'You do not have a passkey. Register one first.', {
      code: 'no_passkeys',
      attr: 'passkeys_enabled_for_2fa',
    });
  }
  if (count === factors.passkeysCount) return null;
  const after = { ...factors, passkeysCount: count };
  requireRemainingFactor(after);
  await setPasskeysAsSecondFactor(tx, caller.userId, count);
  if (!requiresSecondFactor(after)) await removeBackupCodes(tx, caller.userId);
  // End the user's other sessions, because they began without a second factor.
  if (count && !requiresSecondFactor(factors)) {
    await endUserSessions(tx, caller.userId, { except: session.id });
    // If a session began with a passkey, that passkey was its first factor, and cannot be its second factor too.
    if (session.method !== 'passkey') await recordSecondFactor(tx, session.id, 'passkey');
  }
  const change = {
    before: { passkeys_enabled_for_2fa: !count },
    after: { passkeys_enabled_for_2fa: count },
  };
  await recordOwnActivity(tx, await requireUser(tx, caller.userId), { activity: 'updated', change });
  return count ? 'passkeys_required' : 'passkeys_not_required';
}

async function changeCurrentEnvironment(
  tx: Transaction,
  caller: Caller,
  { organizationId, team }: { organizationId: string | undefined; team: number | undefined },
): Promise<void> {
  // A limited key must not change what `@current` refers to for the user's other keys.
  if (hasLimitedReach(caller)) {
    throw new AppError(
      'forbidden',
      'API keys with scoped organizations or projects cannot change what `@current` refers to.',
    );
  }
  const own = getVisibleOrganizationIds(caller);
  if (organizationId !== undefined && !own.includes(organizationId)) {
    throw unknown('set_current_organization', organizationId);
  }
  if (team === undefined) {
    if (organizationId !== undefined)
      await setCurrentEnvironment(tx, caller.userId, { organizationId, environmentId: null });
    return;
  }
  const found = isRowId(team) ? await findEnvironment(tx, caller.userId, team) : undefined;
  // A private environment that the caller cannot access gets the same error as a missing environment.
  if (!found || found.level === null || !own.includes(found.organizationId))
    throw unknown('set_current_team', String(team));
  if (organizationId !== undefined && found.organizationId !== organizationId) {
    throw new AppError('invalid', 'Team must belong to the same organization in set_current_organization.', {
      code: 'invalid_input',
      attr: 'set_current_team',
    });
  }
  await setCurrentEnvironment(tx, caller.userId, found);
}

/**
 * Maximum length of `hedgehog_config` in characters. Each record contains its creator's configuration, so a page can
 * repeat it a thousand times.
 */
const maxConfigLength = 2000;

async function changeFields(tx: Transaction, { userId }: Caller, fields: UserFields): Promise<void> {
  if (JSON.stringify(fields.hedgehog_config ?? null).length > maxConfigLength) {
    throw new AppError('invalid', `Ensure this field has no more than ${maxConfigLength} characters as JSON.`, {
      code: 'max_length',
      attr: 'hedgehog_config',
    });
  }
  const before = await findUser(tx, userId);
  await changeUserFields(tx, userId, fields);
  const after = await findUser(tx, userId);
  // The user was deleted after the request began.
  if (!before || !after) throw new AppError('not_found', 'Not found.');
  await recordOwnActivity(tx, { ...after, id: userId }, { activity: 'updated', change: { before, after } });
}

function unknown(attr: string, id: string): AppError {
  return new AppError('invalid', `Object with id=${id.slice(0, 100)} does not exist.`, {
    code: 'does_not_exist',
    attr,
  });
}
