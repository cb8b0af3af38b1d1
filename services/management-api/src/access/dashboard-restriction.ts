// Access to dashboards that only their owner can change, and to the insights on these dashboards.

import { membershipLevels } from '@millrace/contracts';
import { AppError } from '@millrace/runtime';
import type { RecordRights } from './record-rights.ts';

/**
 * Numbers in PostHog's API for who can change a dashboard: every member of the project, or only the dashboard's owner
 * and administrators.
 */
export const restrictionLevels = { everybody: 21, owner: 37 } as const;
/** The numbers for view and edit rights in PostHog's API. */
const privilegeLevels = { view: 21, edit: 37 } as const;

export interface Restricted {
  restriction_level: number;
  owner_id: number | null;
}

/** A user with their level in the project and their rights to its records. */
export interface Editor {
  userId: number;
  level: number;
  rights: RecordRights;
}

export function canRestrictDashboard({ owner_id }: Restricted, { userId, level }: Editor): boolean {
  return level >= membershipLevels.administrator || owner_id === userId;
}

export function canChangeDashboard(dashboard: Restricted, editor: Editor): boolean {
  return dashboard.restriction_level === restrictionLevels.everybody || canRestrictDashboard(dashboard, editor);
}

/**
 * Returns true if the editor can change an insight: it is on no dashboard, or the editor can change one of its
 * dashboards.
 */
export function canChangeInsight(dashboards: readonly Restricted[], editor: Editor): boolean {
  return dashboards.length === 0 || dashboards.some((dashboard) => canChangeDashboard(dashboard, editor));
}

/**
 * Checks that the editor can change the dashboard.
 * @throws AppError `forbidden`
 */
export function requireDashboardChange(dashboard: Restricted, editor: Editor): void {
  if (canChangeDashboard(dashboard, editor)) return;
  throw new AppError('forbidden', "You don't have edit permissions for this dashboard.");
}

/** Returns the response fields that describe the caller's rights to a dashboard or insight. */
export function describeRights(dashboards: readonly Restricted[], mayEdit: boolean) {
  return {
    effective_restriction_level: Math.max(
      restrictionLevels.everybody,
      ...dashboards.map(({ restriction_level }) => restriction_level),
    ),
    effective_privilege_level: mayEdit ? privilegeLevels.edit : privilegeLevels.view,
    user_access_level: mayEdit ? 'editor' : 'viewer',
  };
}
