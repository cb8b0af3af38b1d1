// Declares the route that lists the stored events through which a person's distinct IDs were merged.

import { findPerson } from '@millrace/db';
import { formatDateTime } from '@millrace/http';
import { AppError } from '@millrace/runtime';
import { Type } from 'typebox';
import { environmentBasePaths } from '../../access/addressed-project.ts';
import { defineRoutes } from '../../access/define-route.ts';
import { listIdsOfPerson, maxDistinctIdsShown } from '../distinct-ids/distinct-id-store.ts';
import { createBudget, createEventRead, type StoreRead } from '../events/reads.ts';
import type { EventDeps } from '../events/routes.ts';
import { personParams } from './routes.ts';
import { type MergeEvent, maxMergeEvents, mergeEventIdProperty, mergeEvents, readPerson } from './store.ts';

export function personMergesRoute({ sql, searches, externalEventStore }: EventDeps) {
  return defineRoutes({
    method: 'GET',
    below: environmentBasePaths(sql),
    path: '/persons/:id/merges',
    operationId: 'persons_merges_list',
    summary: "Show how a person's distinct IDs were merged",
    description:
      "Reconstructs a person's merges from the stored `$identify`, `$create_alias` and `$merge_dangerously` " +
      'events, because the merges themselves are not recorded. The oldest event comes first. Repeated events are ' +
      'left out. The merge of an ID cannot be reconstructed if the ID was added without such an event, or if the ' +
      'event has been deleted.',
    tags: ['persons'],
    scope: 'person:read',
    params: personParams,
    responses: {
      200: { description: "The person's distinct IDs, and the events that merged them.", schema: merges },
    },
    examples: { response: mergesExample },
    handler: async ({ caller, target, params, request }) => {
      const projectId = target.environmentId;
      const { uuid } = await findPerson(sql, projectId, params.id);
      const person = await readPerson(sql, projectId, uuid);
      if (person === undefined) throw new AppError('not_found', 'Not found.');
      const ids = await listIdsOfPerson(sql, projectId, uuid);
      const distinctIds = ids.map(({ distinct_id }) => distinct_id);
      const events = await searches.run({ caller, target }, null, (on) =>
        listMergeEvents(
          createEventRead(externalEventStore, {
            sql: on,
            projectId,
            signal: request.disconnectSignal(),
            isRepeated: true,
          }),
          distinctIds,
        ),
      );
      const explanation = explainIds(person.main_distinct_id, distinctIds, events);
      return {
        distinct_ids: ids.map(({ distinct_id, moves }) => ({
          distinct_id,
          moves,
          is_explained: explanation.explained.has(distinct_id),
        })),
        merges: explanation.merges.map(({ timestamp, ...merge }) => ({
          ...merge,
          timestamp: formatDateTime(timestamp),
        })),
      };
    },
  });
}

/** Returns the merge events with these distinct IDs, oldest first. */
async function listMergeEvents(read: StoreRead, distinctIds: string[]): Promise<MergeEvent[]> {
  const { events } = await read.store.events.list(
    {
      projectId: read.projectId,
      events: mergeEvents,
      uuid: null,
      where: { all: [] },
      distinctIds,
      by: 'timestamp',
      from: null,
      to: null,
      after: null,
      isOldestFirst: true,
      limit: maxMergeEvents,
      maxBytes: maxMergeBytes,
    },
    createBudget(read),
  );
  return events.flatMap(({ uuid, event, timestamp, distinct_id, properties }) => {
    const other = JSON.parse(properties)[mergeEventIdProperty(event)];
    const other_distinct_id =
      typeof other === 'string' || typeof other === 'number' ? String(other).slice(0, 400) : null;
    const isMerge = other_distinct_id !== null && other_distinct_id !== distinct_id;
    return isMerge ? [{ uuid, event, timestamp, distinct_id, other_distinct_id }] : [];
  });
}

/** Maximum total size in bytes of the events to read. */
const maxMergeBytes = 8 * 1024 * 1024;

/**
 * Replays the merge events in order. Omits an event if an earlier event has already merged the same two IDs.
 * `is_joined` is false if the event's other ID does not belong to this person: either the merge was rejected, or the ID
 * was deleted or moved to another person after the merge.
 */
function explainIds(mainId: string, distinctIds: readonly string[], events: readonly MergeEvent[]) {
  const setOf = new Map(distinctIds.map((id) => [id, new Set([id])]));
  const merges: (MergeEvent & { is_joined: boolean })[] = [];
  for (const event of events) {
    const [own, other] = [setOf.get(event.distinct_id), setOf.get(event.other_distinct_id)];
    if (own === undefined || other === undefined) {
      merges.push({ ...event, is_joined: false });
    } else if (own !== other) {
      for (const id of other) setOf.set(id, own.add(id));
      merges.push({ ...event, is_joined: true });
    }
  }
  return { merges, explained: setOf.get(mainId) ?? new Set<string>() };
}

const merges = Type.Object(
  {
    distinct_ids: Type.Array(
      Type.Object({
        distinct_id: Type.String({ description: 'The distinct ID.' }),
        moves: Type.Integer({ description: 'How many times the ID was moved from one person to another.' }),
        is_explained: Type.Boolean({
          description:
            'True if the ID is the main ID, or if stored events show how the ID was merged with the main ID.',
        }),
      }),
      {
        description: `The person's distinct IDs, in the order in which they were added. At most ${maxDistinctIdsShown}.`,
      },
    ),
    merges: Type.Array(
      Type.Object({
        uuid: Type.String({ format: 'uuid', description: 'ID of the event.' }),
        event: Type.String({ description: '`$identify`, `$create_alias` or `$merge_dangerously`.' }),
        timestamp: Type.String({ format: 'date-time', description: 'Time of the event.' }),
        distinct_id: Type.String({ description: 'Distinct ID with which the event was sent.' }),
        other_distinct_id: Type.String({ description: 'The other distinct ID in the event.' }),
        is_joined: Type.Boolean({
          description:
            'Whether the event merged the two IDs. False if the other ID does not belong to this person now.',
        }),
      }),
      { description: 'The events, oldest first. At most 1000.' },
    ),
  },
  { title: 'PersonMerges' },
);

const mergesExample = {
  distinct_ids: [
    { distinct_id: '0193f0c5-7a4e-7000-8000-00000000dead', moves: 1, is_explained: true },
    { distinct_id: 'user-42', moves: 0, is_explained: true },
  ],
  merges: [
    {
      uuid: '0193f0c5-7a4e-7000-8000-000000000007',
      event: '$identify',
      timestamp: '2026-11-20T08:15:00Z',
      distinct_id: 'user-42',
      other_distinct_id: '0193f0c5-7a4e-7000-8000-00000000dead',
      is_joined: true,
    },
  ],
};
