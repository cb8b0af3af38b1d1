import { lockEnvironment, recordActivity, updateEnvironment } from '@millrace/accounts';
import { membershipLevels } from '@millrace/contracts';
import type { Database } from '@millrace/db';
import { AppError } from '@millrace/errors';
import { Type } from 'typebox';
import { addressedProject, projectParams } from '../../access/addressed-project.ts';
import type { KeyChanges } from '../../access/announce-key-change.ts';
import { defineRoute } from '../../access/define-route.ts';
import { readEventRetention } from './event-retention-store.ts';

const retention = Type.Object(
  {
    event_retention_days: Type.Union([Type.Integer({ minimum: 1, maximum: 36_500 }), Type.Null()], {
      description:
        'Events older than this many days are deleted for good, and dropped when they come that old. Null, and what is more than the installation keeps (`EVENT_RETENTION_DAYS`): as long as the installation does.',
    }),
  },
  { title: 'EventRetention' },
);

const path = '/api/projects/:project_id/event_retention';
const example = { event_retention_days: 365 };

export interface EventRetentionDeps extends Pick<Database, 'sql' | 'transaction'> {
  announceKeyChange: KeyChanges['announce'];
}

/**
 * How long an environment keeps its events. Not one of the settings of an environment: what it does cannot be undone, and clients
 * know exactly which fields an environment has.
 */
export function eventRetentionRoutes({ sql, transaction, announceKeyChange }: EventRetentionDeps) {
  return [
    defineRoute({
      method: 'GET',
      path,
      operationId: 'event_retention_retrieve',
      summary: 'Show how long events are kept',
      description: 'The own limit of the environment.',
      tags: ['environments'],
      scope: 'project:read',
      params: projectParams,
      responses: { 200: { description: 'The limit.', schema: retention } },
      examples: { response: example },
      target: addressedProject(sql),
      handler: ({ target: { environmentId } }) => readEventRetention(sql, environmentId),
    }),
    defineRoute({
      method: 'PATCH',
      path,
      operationId: 'event_retention_partial_update',
      summary: 'Change how long events are kept',
      description:
        'Deletes what is older in the background, within minutes, together with warnings that old; what is gone does not come back with a longer limit. Persons stay.',
      tags: ['environments'],
      scope: 'project:write',
      level: membershipLevels.administrator,
      params: projectParams,
      body: retention,
      responses: { 200: { description: 'The limit.', schema: retention } },
      examples: { request: example, response: example },
      target: addressedProject(sql),
      handler: async ({ caller, target: { environmentId, organizationId }, body: { event_retention_days } }) => {
        const token = await transaction(async (tx) => {
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
          return before.api_token;
        });
        announceKeyChange([token]);
        return { event_retention_days };
      },
    }),
  ];
}
