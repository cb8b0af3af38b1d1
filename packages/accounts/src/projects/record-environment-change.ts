import type { Transaction } from '@millrace/db';
import { type Activity, recordActivity } from '../activity/record-activity.ts';
import type { StoredEnvironment } from './environment-store.ts';
import { organizationOfProject } from './projects.ts';

/** Writes down what changed of an environment, under its name. */
export async function recordEnvironmentChange(
  tx: Transaction,
  { id, project_id, name }: Pick<StoredEnvironment, 'id' | 'project_id' | 'name'>,
  done: Pick<Activity, 'actor' | 'change' | 'changes'>,
): Promise<void> {
  await recordActivity(tx, {
    organizationId: await organizationOfProject(tx, project_id),
    environmentId: id,
    scope: 'Team',
    itemId: id,
    activity: 'updated',
    name,
    ...done,
  });
}
