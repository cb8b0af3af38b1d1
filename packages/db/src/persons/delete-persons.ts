import { v7 as uuidv7 } from 'uuid';
import type { Sql } from '../transaction.ts';
import {
  deleteLockedPersons,
  insertDeletedIds,
  insertDeletionActivity,
  insertDeletions,
  lockPersons,
  type PersonDeletion,
} from './delete-persons-store.ts';

export interface DeletePersons {
  projectId: number;
  organizationId: string;
  uuids: string[];
  /** Whether their events go, too; otherwise events stay without what they hold of the person. */
  deletesEvents: boolean;
  /** Who asked: a user, or an operator by a command. */
  actor: { userId: number } | { command: string };
}

/** What the activity record of a deletion says of it; the worker writes it again as it gets on. */
export interface DeletionProgress {
  status: 'waiting' | 'running' | 'completed';
  delete_events: boolean;
  /** Events deleted, or stripped of what they held of the person. */
  events: number;
}

/**
 * Deletes persons and their distinct ids and asks for the rest to be deleted (the delivery worker's `delete_person_data`).
 * From the commit on nobody finds them; events of theirs that were captured before are dropped by the consumer, and
 * an id that comes back later starts a new person. The record of it names nobody: a name would be the data again.
 *
 * @param tx the transaction of the change.
 * @returns those that existed.
 */
export async function deletePersons(tx: Sql, request: DeletePersons): Promise<PersonDeletion[]> {
  const { projectId, uuids, deletesEvents } = request;
  const locked = await lockPersons(tx, projectId, uuids);
  if (locked.length === 0) return [];
  const deletions = locked.map((personUuid) => ({ id: uuidv7(), personUuid }));
  await insertDeletions(tx, projectId, { deletions, deletesEvents });
  await insertDeletedIds(tx, projectId, deletions);
  await deleteLockedPersons(tx, projectId, locked);
  await insertDeletionActivity(tx, projectId, deletions, activityOf(request));
  return deletions;
}

function activityOf({ organizationId, deletesEvents, actor }: DeletePersons) {
  const after: DeletionProgress = { status: 'waiting', delete_events: deletesEvents, events: 0 };
  const isUser = 'userId' in actor;
  return {
    organizationId,
    userId: isUser ? actor.userId : null,
    detail: {
      name: null,
      short_id: null,
      type: null,
      trigger: isUser ? null : { job_type: 'command_line', job_id: actor.command, payload: {} },
      changes: [{ type: 'Person', action: 'changed', field: 'deletion', before: null, after }],
    },
  };
}
