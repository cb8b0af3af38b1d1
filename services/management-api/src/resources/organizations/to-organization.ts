import { formatDateTime } from '@millrace/http';
import type { Caller } from '../../access/caller.ts';
import type { OrganizationRow } from './organization-store.ts';

/** An organization as one of its members sees it. */
export function toOrganization(row: OrganizationRow, caller: Caller) {
  const membership = caller.memberships.find((candidate) => candidate.organizationId === row.id);
  return {
    ...row,
    created_at: formatDateTime(row.created_at),
    updated_at: formatDateTime(row.updated_at),
    // Rows are only ever read by the caller's memberships.
    membership_level: membership?.level ?? 0,
    plugins_access_level: 3,
    metadata: { instance_tag: 'none' },
    customer_id: null,
  };
}
