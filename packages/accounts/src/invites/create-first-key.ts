import type { organization_invite } from '@millrace/db';
import type { AccountClient } from '../input/account-client.ts';
import { createPersonalApiKey, type PersonalApiKeyWithValue } from '../keys/personal-api-keys.ts';

/**
 * Gives somebody who has joined by an invite a first key: one that can do no more than the key that invited, and for no
 * longer. Otherwise whoever gets hold of a small key could invite himself to a great one.
 *
 * @param client a transaction.
 */
export async function createFirstKey(
  client: AccountClient,
  { invite, userId }: { invite: organization_invite; userId: number },
): Promise<PersonalApiKeyWithValue> {
  return createPersonalApiKey(client, {
    userId,
    label: 'First key',
    // None are kept of invites that an earlier version made.
    scopes: invite.key_scopes.length > 0 ? invite.key_scopes : ['*'],
    scopedOrganizations: invite.is_key_limited ? [invite.organization_id] : [],
    expiresAt: invite.key_expires_at,
  });
}
