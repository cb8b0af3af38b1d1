// Who may change a dashboard, and with it what is on it.

import { membershipLevels } from '@millrace/contracts';
import { AppError } from '@millrace/runtime';
import type { RecordRights } from './record-rights.ts';

/** As clients number them: everybody of the project may change it, or only its owner and administrators. */
export const restrictionLevels = { everybody: 21, owner: 37 } as const;
/** As clients number them: look at it, change it. */
const privilegeLevels = { view: 21, edit: 37 } as const;

/** What a dashboard says of who may change it. */
export interface Restricted {
  restriction_level: number;
  owner_id: number | null;
}

/** Somebody, with their level in the project and what they may do with its records. */
export interface Editor {
  userId: number;
  level: number;
  rights: RecordRights;
}

export function mayRestrict({ owner_id }: Restricted, { userId, level }: Editor): boolean {
  return level >= membershipLevels.administrator || owner_id === userId;
}

export function mayChange(dashboard: Restricted, editor: Editor): boolean {
  return dashboard.restriction_level === restrictionLevels.everybody || mayRestrict(dashboard, editor);
}

/** An insight may be changed on one of its dashboards, or where it is on none. */
export function mayChangeInsight(dashboards: readonly Restricted[], editor: Editor): boolean {
  return dashboards.length === 0 || dashboards.some((dashboard) => mayChange(dashboard, editor));
}

/** @throws AppError `forbidden`. */
export function requireChange(dashboard: Restricted, editor: Editor): void {
  if (mayChange(dashboard, editor)) return;
  throw new AppError('forbidden', "You don't have edit permissions for this dashboard.");
}

/** What answers say of these rules. */
export function shownRights(dashboards: readonly Restricted[], mayEdit: boolean) {
  return {
    effective_restriction_level: Math.max(
      restrictionLevels.everybody,
      ...dashboards.map(({ restriction_level }) => restriction_level),
    ),
    effective_privilege_level: mayEdit ? privilegeLevels.edit : privilegeLevels.view,
    user_access_level: mayEdit ? 'editor' : 'viewer',
  };
}
