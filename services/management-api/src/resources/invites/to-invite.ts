import { isInviteExpired } from '@millrace/accounts';
import { formatDateTime } from '@millrace/http';
import type { InviteRow } from './invite-store.ts';

/** An invite as the API shows it at a given time. */
export function toInvite(row: InviteRow, now: Date) {
  return {
    ...row,
    is_expired: isInviteExpired(row, now),
    created_at: formatDateTime(row.created_at),
    updated_at: formatDateTime(row.updated_at),
  };
}
