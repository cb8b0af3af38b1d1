// Declares the routes that show and change an environment's event retention period.

import { lockEnvironment, recordActivity, updateEnvironment } from '@millrace/accounts';
import { membershipLevels } from '@millrace/contracts';
import type { Database } from '@millrace/db';
import { AppError } from '@millrace/runtime';
import { Type } from 'typebox';
import { environmentBasePaths } from '../../access/addressed-project.ts';
import { defineRoutes } from '../../access/define-route.ts';
import { readEventRetention } from './store.ts';

const retention = Type.Object(
  {
    event_retention_days: Type.Union([Type.Integer({ minimum: 1, maximum: 36_500 }), Type.Null()], {
      description:
        'Number of days for which events are kept. Older events are deleted permanently, and events that are already ' +
        "older when they arrive are dropped. Null, or a value larger than the installation's own setting " +
        '(`EVENT_RETENTION_DAYS`), keeps events as long as the installation does.',
    }),
  },
  { title: 'EventRetention' },
);

const path = '/event_retention';
const example = { event_retention_days: 365 };

/**
 * Creates the routes for the retention period. The retention period is not an environment setting, because its effect
 * cannot be undone, and because PostHog clients expect an exact list of fields in an environment.
 */
export function eventRetentionRoutes({ sql, transaction }: Pick<Database, 'sql' | 'transaction'>) {
  return [
    ...defineRoutes({
      method: 'GET',
      below: environmentBasePaths(sql),
      path,
      operationId: 'event_retention_retrieve',
      summary: 'Show the event retention period',
      description: 'Returns the retention period that is set for this environment.',
      tags: ['environments'],
      scope: 'project:read',
      responses: { 200: { description: 'The event retention period.', schema: retention } },
      examples: { response: example },
      handler: ({ target: { environmentId } }) => readEventRetention(sql, environmentId),
    }),
    ...defineRoutes({
      method: 'PATCH',
      below: environmentBasePaths(sql),
      path,
      operationId: 'event_retention_partial_update',
      summary: 'Change the event retention period',
      description:
        'Changes the retention period. Events and ingestion warnings that are older than the period are deleted in the background within minutes. Increasing the period later does not restore them. Persons are not deleted.',
      tags: ['environments'],
      scope: 'project:write',
      level: membershipLevels.administrator,
      body: retention,
      responses: { 200: { description: 'The updated event retention period.', schema: retention } },
      examples: { request: example, response: example },
      handler: async ({ caller, target: { environmentId, organizationId }, body: { event_retention_days } }) => {
        await transaction(async (tx) => {
          const before = await lockEnvironment(tx, environmentId);
          if (!before) throw new AppError('not_found', 'Not found.');
          const after = await updateEnvironment(tx, environmentId, { event_retention_days });
          await recordActivity(tx, {
            organizationId,
            environmentId,
            scope: 'Team',
            itemId: environmentId,
            activity: 'updated',
            actor: caller,
            name: before.name,
            change: { before: { event_retention_days: before.event_retention_days }, after },
          });
        });
        return { event_retention_days };
      },
    }),
  ];
}
