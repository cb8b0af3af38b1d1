// Access to dashboards that only their owner can change, and to the insights on these dashboards.

import { membershipLevels } from '@millrace/contracts';
import { AppError } from '@millrace/runtime';
import type { RecordRights } from './record-rights.ts';

/**
 * PostHog's codes for dashboard restriction: every member of the project can change the dashboard, or only its owner
 * and administrators.
 */
export const restrictionLevels = { everybody: 21, owner: 37 } as const;
/** PostHog's codes for view and edit rights. */
const privilegeLevels = { view: 21, edit: 37 } as const;

export interface Restricted {
  restriction_level: number;
  owner_id: number | null;
}

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
 * Returns true if the editor can change an insight. An insight without dashboards can be changed by every editor, and
 * one with dashboards by an editor who can change at least one of them.
 */
export function canChangeInsight(dashboards: readonly Restricted[], editor: Editor): boolean {
  return dashboards.length === 0 || dashboards.some((dashboard) => canChangeDashboard(dashboard, editor));
}

export function requireDashboardChange(dashboard: Restricted, editor: Editor): void {
  if (canChangeDashboard(dashboard, editor)) return;
  throw new AppError('forbidden', "You don't have edit permissions for this dashboard.");
}

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
