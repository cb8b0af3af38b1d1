import type { Inviter } from '@millrace/accounts';
import { type Caller, isLimited } from '../../access/caller.ts';

export function invitingKeyOf(caller: Caller): Inviter['key'] {
  return { scopes: caller.scopes, isLimited: isLimited(caller), expiresAt: caller.keyExpiresAt };
}
