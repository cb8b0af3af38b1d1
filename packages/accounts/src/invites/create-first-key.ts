import type { Transaction } from '@millrace/db';
import type { Actor } from '../activity/record-activity.ts';
import { createPersonalApiKey, type PersonalApiKeyWithValue } from '../keys/personal-api-keys.ts';
import type { Invite } from './invite-store.ts';

/**
 * Gives somebody who has joined by an invite a first key: one that can do no more than the key that invited, and for no
 * longer. Otherwise whoever gets hold of a small key could invite himself to a great one.
 */
export async function createFirstKey(
  tx: Transaction,
  { invite, userId, actor }: { invite: Invite; userId: number; actor: Actor },
): Promise<PersonalApiKeyWithValue> {
  return createPersonalApiKey(tx, {
    userId,
    actor,
    label: 'First key',
    // None are kept of invites that an earlier version made.
    scopes: invite.key_scopes.length > 0 ? invite.key_scopes : ['*'],
    scopedOrganizations: invite.is_key_limited ? [invite.organization_id] : [],
    expiresAt: invite.key_expires_at,
  });
}
