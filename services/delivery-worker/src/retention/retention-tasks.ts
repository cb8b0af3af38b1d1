import { atIntervals } from '../tasks/at-intervals.ts';
import type { Task } from '../tasks/poll.ts';
import { dropMonths, type RetentionDeps } from './drop-months.ts';
import { expireEvents } from './expire-events.ts';
import { createIdentityExpiry } from './expire-identities.ts';
import { deleteOldActivity, deleteOldWarnings } from './retention-store.ts';

export interface RetentionOptions {
  /** How long events are kept at most; 0: for ever. Environments can say less. */
  eventRetentionDays: number;
  keepWarningsDays: number;
  keepActivityDays: number;
}

const minuteMs = 60_000;
const dayMs = 24 * 60 * minuteMs;
const portion = 2000;

/** Everything that is deleted because of its age. */
export function retentionTasks(
  deps: RetentionDeps,
  { eventRetentionDays: installationDays, keepWarningsDays, keepActivityDays }: RetentionOptions,
): Task[] {
  const { sql } = deps.database;
  const expireIdentities = createIdentityExpiry(sql, installationDays);
  const expireWarnings = async () =>
    (await deleteOldWarnings(sql, { installationDays, days: keepWarningsDays, limit: portion })) > 0;
  const expireActivity = async () => (await deleteOldActivity(sql, { days: keepActivityDays, limit: portion })) > 0;
  return [
    { name: 'drop_months', work: atIntervals(minuteMs, () => dropMonths(deps, installationDays)) },
    { name: 'expire_events', work: atIntervals(minuteMs, () => expireEvents(sql, installationDays)) },
    { name: 'expire_identities', work: atIntervals(dayMs, expireIdentities) },
    { name: 'expire_warnings', work: atIntervals(10 * minuteMs, expireWarnings) },
    { name: 'expire_activity', work: atIntervals(10 * minuteMs, expireActivity) },
  ];
}
