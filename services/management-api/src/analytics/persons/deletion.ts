import { type Database, deletePersons, findPersonToDelete, findPersonUuids } from '@millrace/db';
import { AppError } from '@millrace/runtime';
import { Type } from 'typebox';
import { environmentBasePaths } from '../../access/addressed-project.ts';
import type { AddressedProject } from '../../access/addressed-store.ts';
import type { Caller } from '../../access/caller.ts';
import { defineRoutes } from '../../access/define-route.ts';
import { personParams } from './routes.ts';
import { listPersonUuids } from './store.ts';

const maxPersons = 1000;

const whatGoes =
  "The person and the person's distinct IDs are deleted immediately. Other data is deleted in the " +
  "background. If `delete_events` is true, the person's events are deleted. Otherwise, only the person data " +
  "in these events is deleted. Ingestion warnings that contain the person's IDs are deleted as well. The " +
  "person's activity log shows the progress. Events that were captured before the deletion but have not been " +
  'processed yet are dropped. If a distinct ID ' +
  'is used again later, a new person is created.';

const deleteEventsQuery = Type.Object({
  delete_events: Type.Boolean({
    default: false,
    description: "Whether to delete the persons' events as well.",
  }),
});

/** Declares the routes that delete persons. `deletePersons` in packages/db describes the guarantees of a deletion. */
export function deletePersonRoutes(database: Pick<Database, 'sql' | 'transaction'>) {
  const { sql } = database;
  return [
    ...defineRoutes({
      method: 'POST',
      below: environmentBasePaths(sql),
      path: '/persons/bulk_delete',
      operationId: 'persons_bulk_delete',
      summary: 'Delete several persons',
      description: `Deletes up to ${maxPersons} persons by ID or distinct ID. IDs that do not exist are ignored. ${whatGoes}`,
      tags: ['persons'],
      scope: 'person:write',
      query: deleteEventsQuery,
      refusedQuery: { ids: 'Send `ids` in the body.', distinct_ids: 'Send `distinct_ids` in the body.' },
      body: Type.Object(
        {
          ids: Type.Optional(
            Type.Array(Type.String(), { maxItems: maxPersons, description: 'UUIDs or numeric IDs of persons.' }),
          ),
          distinct_ids: Type.Optional(
            Type.Array(Type.String(), { maxItems: maxPersons, description: 'Distinct IDs of persons.' }),
          ),
          delete_events: Type.Optional(
            Type.Boolean({
              description: 'Equivalent to the query parameter `delete_events`. You only need to set one of the two.',
            }),
          ),
        },
        { title: 'PersonSelection' },
      ),
      responses: {
        202: {
          description: 'The persons were deleted. Their other data is being deleted in the background.',
          schema: Type.Object(
            {
              persons_found: Type.Integer({ description: 'Number of persons found.' }),
              persons_deleted: Type.Integer({
                description: 'Number of persons deleted. Always equal to `persons_found`.',
              }),
              events_queued_for_deletion: Type.Boolean({ description: "Whether the persons' events will be deleted." }),
              deletion_errors: Type.Array(Type.Unknown(), { description: 'Always empty.' }),
            },
            { title: 'PersonDeletion' },
          ),
        },
      },
      examples: {
        request: { distinct_ids: ['user-42'], delete_events: true },
        response: { persons_found: 1, persons_deleted: 1, events_queued_for_deletion: true, deletion_errors: [] },
      },
      handler: async ({ caller, target, query, body }) => {
        const { ids = [], distinct_ids: distinctIds = [], delete_events = false } = body;
        if (ids.length + distinctIds.length === 0) {
          throw new AppError('invalid', 'You need to specify either distinct_ids or ids.', { attr: 'ids' });
        }
        checkIds(ids);
        const deletesEvents = delete_events || query.delete_events;
        const uuids = ids.length > 0 ? await listPersonUuids(sql, target.environmentId, ids) : [];
        const count = await deletePersonsNow(database, { uuids, distinctIds }, { caller, target, deletesEvents });
        return {
          persons_found: count,
          persons_deleted: count,
          events_queued_for_deletion: deletesEvents && count > 0,
          deletion_errors: [],
        };
      },
    }),
    ...defineRoutes({
      method: 'DELETE',
      below: environmentBasePaths(sql),
      path: '/persons/:id',
      operationId: 'persons_destroy',
      summary: 'Delete a person',
      description:
        'Deletes one person by UUID, numeric ID or distinct ID. The request is rejected if the ID could refer to ' +
        'two persons. ' +
        `${whatGoes}`,
      tags: ['persons'],
      scope: 'person:write',
      params: personParams,
      query: deleteEventsQuery,
      responses: {
        202: { description: "The person was deleted. The person's other data is being deleted in the background." },
      },
      handler: async ({ caller, target, params: { id }, query: { delete_events: deletesEvents } }) => {
        const { uuid, by } = await findPersonToDelete(sql, target.environmentId, id);
        const wanted = by === 'distinct_id' ? { uuids: [], distinctIds: [id] } : { uuids: [uuid], distinctIds: [] };
        const count = await deletePersonsNow(database, wanted, { caller, target, deletesEvents });
        // In the meantime, another request deleted the person, or merged the person into another.
        if (count === 0) throw new AppError('not_found', 'Not found.');
        return undefined;
      },
    }),
  ];
}

/**
 * Checks the format of IDs before they are looked up.
 * @throws AppError `invalid` naming the first ID that is neither a UUID nor a number
 */
function checkIds(ids: string[]): void {
  const wrong = ids.findIndex((id) => !/^([0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}|\d{1,18})$/i.test(id));
  if (wrong >= 0) {
    throw new AppError('invalid', 'Must be the UUID or the numeric ID of a person.', { attr: `ids__${wrong}` });
  }
}

/**
 * Maximum number of deletion rounds. If a concurrent merge moves a distinct ID to another person, the next round
 * deletes that person. More than a few rounds are not expected.
 */
const maxRounds = 5;

interface DeletionContext {
  caller: Caller;
  target: AddressedProject;
  deletesEvents: boolean;
}

/**
 * Deletes the persons with these UUIDs, and the persons with these distinct IDs. If a distinct ID moves to another
 * person while this function waits for a lock, deletes that person in another transaction, so that locks are always
 * taken in the same order.
 * @returns the number of deleted persons
 */
async function deletePersonsNow(
  { sql, transaction }: Pick<Database, 'sql' | 'transaction'>,
  { uuids, distinctIds }: { uuids: string[]; distinctIds: string[] },
  { caller, target, deletesEvents }: DeletionContext,
): Promise<number> {
  const projectId = target.environmentId;
  const deleteOnce = async (wanted: string[]) => {
    const deleted = await transaction((tx) =>
      deletePersons(tx, {
        projectId,
        organizationId: target.organizationId,
        uuids: wanted,
        deletesEvents,
        actor: { userId: caller.userId },
      }),
    );
    return deleted.length;
  };
  let count = uuids.length > 0 ? await deleteOnce([...new Set(uuids)]) : 0;
  if (distinctIds.length === 0) return count;
  for (let round = 1; round <= maxRounds; round += 1) {
    const owners = await findPersonUuids(sql, projectId, distinctIds);
    if (owners.length === 0) break;
    count += await deleteOnce(owners);
  }
  return count;
}
