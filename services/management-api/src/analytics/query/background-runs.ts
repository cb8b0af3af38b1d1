// Runs queries in the background, shares their status with all processes, and cancels them.

import { randomUUID } from 'node:crypto';
import { formatDateTime } from '@millrace/http';
import { isAppError, type Logger } from '@millrace/runtime';
import type { KeyValueStore } from '@millrace/runtime/cache';

/** A background query's status in API responses. Times are in ISO 8601 format. */
export interface QueryStatus {
  id: string;
  query_async: true;
  team_id: number;
  insight_id: number | null;
  dashboard_id: number | null;
  complete: boolean;
  error: boolean;
  error_message: string | null;
  /** The query's complete response, once the query has finished. */
  results: unknown;
  start_time: string;
  pickup_time: string;
  end_time: string | null;
  expiration_time: string;
  task_id: null;
  query_progress: null;
  labels: null;
}

/** The user who started a run. Only this user can read the run's status, which contains the query result. */
export interface RunOwner {
  projectId: number;
  userId: number;
}

export interface RunOf extends RunOwner {
  /** The ID that the client has chosen. Defaults to a random ID. */
  id?: string | undefined;
  insightId?: number | null;
  dashboardId?: number | null;
}

const keptForSeconds = 20 * 60;
const maxCharacters = 4 * 2 ** 20;
const cancelChannel = 'query cancel';

/**
 * Creates the registry of background runs.
 * @param longestMs the time in milliseconds after which an incomplete run is reported as lost, because its process must
 * have exited
 */
export function createBackgroundRuns({
  keyValue,
  longestMs,
  logger,
}: {
  keyValue: KeyValueStore;
  longestMs: number;
  logger: Logger;
}) {
  const running = new Map<string, { cancel: AbortController; ended: Promise<void> }>();
  const nameOf = ({ projectId, userId }: RunOwner, id: string) => `query status:${projectId}:${userId}:${id}`;
  const subscribed = keyValue.subscribe(cancelChannel, (name) => running.get(name)?.cancel.abort());

  async function keep(name: string, status: QueryStatus): Promise<void> {
    const text = JSON.stringify(status);
    const isSmall = text.length <= maxCharacters;
    const kept = isSmall ? text : JSON.stringify({ ...status, results: null, error: true, error_message: tooLarge });
    await keyValue.set(name, kept, keptForSeconds);
  }

  return {
    /**
     * Starts a run in the background and stores its status.
     * @throws AppError `unavailable` if the status cannot be stored
     */
    async start(
      { projectId, userId, id = randomUUID().replaceAll('-', ''), insightId = null, dashboardId = null }: RunOf,
      work: (signal: AbortSignal) => Promise<unknown>,
    ): Promise<QueryStatus> {
      await subscribed;
      const now = Date.now();
      const status: QueryStatus = {
        id,
        query_async: true,
        team_id: projectId,
        insight_id: insightId,
        dashboard_id: dashboardId,
        complete: false,
        error: false,
        error_message: null,
        results: null,
        start_time: formatDateTime(new Date(now)),
        pickup_time: formatDateTime(new Date(now)),
        end_time: null,
        expiration_time: formatDateTime(new Date(now + keptForSeconds * 1000)),
        task_id: null,
        query_progress: null,
        labels: null,
      };
      const name = nameOf({ projectId, userId }, id);
      await keep(name, status);
      const cancel = new AbortController();
      const ended = work(cancel.signal)
        .then(
          (results) => ({ ...status, results }),
          (error: unknown) => ({ ...status, error: true, error_message: sentenceOf(error, cancel.signal, logger) }),
        )
        .then((last) => keep(name, { ...last, complete: true, end_time: formatDateTime(new Date()) }))
        .catch((error: unknown) => logger.warn('could not store the result of a background query', { error, id }))
        // The client may have started a new run with the same ID in the meantime. Keep that run registered.
        .then(() => void (running.get(name)?.cancel === cancel && running.delete(name)));
      running.set(name, { cancel, ended });
      return status;
    },
    /** Returns a run's status, or null if the user has not started a run with this ID in the project. */
    async find(owner: RunOwner, id: string): Promise<QueryStatus | null> {
      const text = await keyValue.get(nameOf(owner, id));
      if (text === null) return null;
      const status = JSON.parse(text) as QueryStatus;
      if (status.complete || Date.now() < Date.parse(status.start_time) + longestMs) return status;
      return { ...status, complete: true, error: true, error_message: lost };
    },
    /** Cancels a run in any process. Does nothing if the run does not exist. */
    async cancel(owner: RunOwner, id: string): Promise<void> {
      await keyValue.publish(cancelChannel, nameOf(owner, id));
    },
    /** Cancels all runs in this process, and updates their status. */
    async stop(): Promise<void> {
      for (const { cancel } of running.values()) cancel.abort();
      await Promise.all([...running.values()].map(({ ended }) => ended));
    },
  };
}

const tooLarge =
  'The result is too large to be stored. Narrow the query, or run it again with `refresh` set to `blocking`.';
const lost = 'The process that ran the query has exited. Run the query again.';

/** Returns an error message for the user, without internal details. */
function sentenceOf(error: unknown, { aborted }: AbortSignal, logger: Logger): string {
  if (aborted) return 'The query was cancelled.';
  if (isAppError(error) && error.kind !== 'internal') return error.message;
  logger.error('a background query failed', { error });
  return 'The query failed. Run it again later.';
}
