import { hasPlanFeature, membershipLevels } from '@millrace/contracts';
import { formatDateTime } from '@millrace/http';
import type { Caller } from '../../access/caller.ts';
import type { OrganizationRow } from './organization-store.ts';

/** An organization as one of its members sees it. */
export function toOrganization(row: OrganizationRow, caller: Caller) {
  const membership = caller.memberships.find((candidate) => candidate.organizationId === row.id);
  // Rows are only ever read by the caller's memberships.
  const level = membership?.level ?? 0;
  const seesPrivate =
    level >= membershipLevels.administrator ||
    !hasPlanFeature(row.available_product_features, 'project_based_permissioning');
  const hidden = new Set(row.teams.filter((team) => team.access_control && !seesPrivate).map(({ id }) => id));
  return {
    ...row,
    created_at: formatDateTime(row.created_at),
    updated_at: formatDateTime(row.updated_at),
    membership_level: level,
    plugins_access_level: 3,
    teams: row.teams.filter(({ id }) => !hidden.has(id)),
    // A project's first environment has its id.
    projects: row.projects.filter(({ id }) => !hidden.has(id)),
    metadata: { instance_tag: 'none' },
    customer_id: null,
  };
}
