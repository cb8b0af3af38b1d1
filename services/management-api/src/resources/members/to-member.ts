import { formatDateTime } from '@millrace/http';
import type { MemberRow } from './member-store.ts';

/** A member as the API shows it. */
export function toMember(row: MemberRow) {
  return {
    ...row,
    joined_at: formatDateTime(row.joined_at),
    updated_at: formatDateTime(row.updated_at),
    // People are known by keys only: nobody has a second factor or an account of another service to sign in with.
    is_2fa_enabled: false,
    has_social_auth: false,
    last_login: row.last_login && formatDateTime(row.last_login),
  };
}
