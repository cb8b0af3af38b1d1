// Declares the route that splits a person. A split is the inverse of a merge.

import { recordActivity } from '@millrace/accounts';
import { type Database, findPersonToDelete, maxSplits, splitPerson } from '@millrace/db';
import { AppError } from '@millrace/runtime';
import { Type } from 'typebox';
import { environmentBasePaths } from '../../access/addressed-project.ts';
import { defineRoutes } from '../../access/define-route.ts';
import { personParams } from './routes.ts';

const distinctId = Type.String({ minLength: 1, maxLength: 400 });

/** `splitPerson` in packages/db and docs/ingestion-rules.md#splits describe how a split changes persons and events. */
export function splitPersonRoutes({ sql, transaction }: Pick<Database, 'sql' | 'transaction'>) {
  return defineRoutes({
    method: 'POST',
    below: environmentBasePaths(sql),
    path: '/persons/:id/split',
    operationId: 'persons_split_create',
    summary: 'Split a person',
    description:
      'Moves distinct IDs of a person to new persons. One new person is created for each ID. Use this request if ' +
      'the wrong persons were merged. If you send `distinct_ids_to_split`, these IDs are moved. Otherwise, all ' +
      "IDs except `main_distinct_id` are moved. `main_distinct_id` defaults to the person's main ID. The " +
      'original person keeps its UUID, properties and other IDs. The new persons have no properties. All past and ' +
      'future events with a moved ID belong to the new person. The change takes effect immediately. One request ' +
      'moves up to ' +
      `${maxSplits} IDs. The request is rejected if the ID in the path could refer to two persons.`,
    tags: ['persons'],
    scope: 'person:write',
    params: personParams,
    body: Type.Object(
      {
        main_distinct_id: Type.Optional(
          Type.Union([distinctId, Type.Null()], {
            description: 'The distinct ID that stays with the person. Cannot be combined with `distinct_ids_to_split`.',
          }),
        ),
        distinct_ids_to_split: Type.Optional(
          Type.Union([Type.Array(distinctId, { minItems: 1, maxItems: maxSplits }), Type.Null()], {
            description: 'The distinct IDs to move. At least one ID must stay with the person.',
          }),
        ),
      },
      // Reject unknown fields. If a misspelled field were ignored, the request would split off all distinct IDs.
      { title: 'PersonSplit', additionalProperties: false },
    ),
    responses: {
      201: {
        description: 'The IDs were moved.',
        schema: Type.Object(
          {
            success: Type.Boolean({ description: 'Always true.' }),
            splits: Type.Array(
              Type.Object({
                distinct_id: Type.String({ description: 'Distinct ID that was moved.' }),
                uuid: Type.String({ format: 'uuid', description: 'UUID of the new person to whom the ID was moved.' }),
              }),
              { description: 'The new persons. Empty if the person has only one ID.' },
            ),
          },
          { title: 'PersonSplitResult' },
        ),
      },
    },
    examples: {
      request: { distinct_ids_to_split: ['user-43'] },
      response: { success: true, splits: [{ distinct_id: 'user-43', uuid: '5b2c7f0e-7d1a-4f0c-9a55-2f6f0a3c9f11' }] },
    },
    handler: async ({ caller, target, params: { id }, body }) => {
      const { main_distinct_id: main, distinct_ids_to_split: named } = body;
      if (main != null && named != null) {
        const detail = '`distinct_ids_to_split` cannot be combined with `main_distinct_id`.';
        throw new AppError('invalid', detail, { attr: 'distinct_ids_to_split' });
      }
      const { uuid } = await findPersonToDelete(sql, target.environmentId, id);
      const selection = named != null ? { distinctIdsToSplit: named } : { mainDistinctId: main ?? undefined };
      const splits = await transaction(async (tx) => {
        const moved = await splitPerson(tx, { projectId: target.environmentId, uuid }, selection);
        if (moved.length === 0) return moved;
        await recordActivity(tx, {
          organizationId: target.organizationId,
          environmentId: target.environmentId,
          scope: 'Person',
          itemId: uuid,
          activity: 'split_person',
          actor: caller,
          name: null,
          // Omit the distinct IDs. Log entries must not contain personal data, because they are kept after the person
          // is deleted.
          changes: [
            {
              type: 'Person',
              action: 'changed',
              field: 'distinct_ids',
              before: null,
              after: { new_persons: moved.map((one) => one.uuid) },
            },
          ],
        });
        return moved;
      });
      return { success: true, splits };
    },
  });
}
