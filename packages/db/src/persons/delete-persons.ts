// Deletes persons, and requests the deletion of their remaining data.

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
  /** Whether to delete the persons' events as well. If false, their events are kept without personal data. */
  deletesEvents: boolean;
  /** The user who requested the deletion, or the command that an operator ran. */
  actor: { userId: number } | { command: string };
}

/** The deletion state that is stored in an activity record. The worker updates it as the deletion proceeds. */
export interface DeletionProgress {
  status: 'waiting' | 'running' | 'completed';
  delete_events: boolean;
  /** The number of events that have been deleted or stripped of personal data. */
  events: number;
}

/**
 * Deletes persons and their distinct IDs, and requests deletion of the remaining data (the delivery worker's
 * `delete_person_data`). After the commit, the persons can no longer be found, and the consumer drops events that they
 * sent before. If a distinct ID is used again, it gets a new person. The activity record does not contain the persons'
 * names, because names are personal data too.
 *
 * @param tx the transaction of the change
 * @returns the persons that existed
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
