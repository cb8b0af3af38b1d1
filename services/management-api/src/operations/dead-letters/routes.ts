// Declares the routes of dead letters, which are records that the event consumer could not process
// (docs/ingestion-rules.md#dead-letters).

import { recordActivity } from '@millrace/accounts';
import { eventTopics, membershipLevels } from '@millrace/contracts';
import { type Database, type DecidedDeadLetter, readDeadLetterDecisions, storeDeadLetterDecisions } from '@millrace/db';
import { findDeadLetterDecision, toReplayedRecord } from '@millrace/event-log';
import { decodeCursor, formatDateTime, keysetPage, keysetPageSchema, keysetQuery } from '@millrace/http';
import { AppError } from '@millrace/runtime';
import { Type } from 'typebox';
import { environmentBasePaths } from '../../access/addressed-project.ts';
import type { AddressedProject } from '../../access/addressed-store.ts';
import type { Caller } from '../../access/caller.ts';
import { defineRoutes } from '../../access/define-route.ts';
import type { Searches } from '../../access/searches.ts';
import { findEnvironmentToken } from '../../analytics/send-event/store.ts';
import { timeRangeQuery, toTimeRange } from '../../time/time-range.ts';
import {
  type DeadLetterLog,
  describeReason,
  idPattern,
  maxDeadLetters,
  type ProjectDeadLetter,
  readCapturedEvents,
  readDeadLetters,
} from './read-dead-letters.ts';
import {
  deadLetterExample,
  deadLetterIds,
  deadLetterSchema,
  deadLetterWithRecord,
  discarded,
  replayed,
  states,
} from './schema.ts';

interface DeadLetterDeps extends Pick<Database, 'sql' | 'transaction'> {
  searches: Searches;
  /** The event log with the dead letters, or null if no event log is configured. */
  deadLetterLog: DeadLetterLog | null;
}

/** Position of the previous page's last dead letter: its time in milliseconds since the epoch, and its ID. */
const position = Type.Object({
  at: Type.Integer({ minimum: 0, maximum: 8_640_000_000_000_000 }),
  id: Type.String({ pattern: idPattern }),
});

/**
 * Maximum total size in bytes of the records that one request replays. Limits the request's memory, and the size of the
 * batch that is appended to the log.
 */
const maxReplayedBytes = 16 * 1024 * 1024;

interface DeadLetterRequest {
  caller: Caller;
  target: AddressedProject;
}

export function deadLetterRoutes({ sql, transaction, searches, deadLetterLog }: DeadLetterDeps) {
  const common = {
    below: environmentBasePaths(sql),
    tags: ['dead letters'] as [string],
    // Only administrators have access, because captured records can contain personal data such as email addresses.
    level: membershipLevels.administrator,
  };

  /**
   * Finds a project's dead letters. Reading the log counts as a search, because it takes as long as one. A user's
   * requests therefore cannot block those of other users.
   */
  async function find({ caller, target }: DeadLetterRequest, ids?: readonly string[]) {
    const log = requireLog();
    const { environmentId } = target;
    const token = await findEnvironmentToken(sql, environmentId);
    const deadLetters = await searches.run({ caller, target }, null, () =>
      readDeadLetters(log, { environmentId, token: token ?? '' }, new Set(ids)),
    );
    const decisions = await readDeadLetterDecisions(sql);
    return { log, deadLetters: deadLetters.map((one) => ({ ...one, state: stateOf(one, decisions) })) };
  }

  function requireLog(): DeadLetterLog {
    if (deadLetterLog !== null) return deadLetterLog;
    throw new AppError('unavailable', 'Dead letters are not available because EVENT_LOG is not set.', {
      code: 'no_event_log',
    });
  }

  const decide = (
    { caller, target }: DeadLetterRequest,
    deadLetters: DecidedProjectDeadLetter[],
    after: 'replayed' | 'discarded',
  ) =>
    transaction(async (tx) => {
      const positions = deadLetters.map(({ deadLetter }) => deadLetter.position);
      await storeDeadLetterDecisions(tx, positions, after);
      for (const { id, deadLetter, state } of deadLetters) {
        await recordActivity(tx, {
          organizationId: target.organizationId,
          environmentId: target.environmentId,
          scope: 'DeadLetter',
          itemId: id,
          activity: 'updated',
          actor: caller,
          name: deadLetter.reason,
          changes: [{ type: 'DeadLetter', action: 'changed', field: 'state', before: state, after }],
        });
      }
    });

  return [
    ...defineRoutes({
      ...common,
      method: 'GET',
      path: '/dead_letters',
      operationId: 'dead_letters_list',
      summary: 'List dead letters',
      description:
        `Returns the latest ${maxDeadLetters} events of the project that could not be processed, most recent first. A ` +
        'request takes a few seconds, because it reads the event log from the start. To list dead letters that ' +
        'cannot be assigned to a project, use `millrace dead-letters list`.',
      scope: 'event:read',
      query: Type.Object({
        ...keysetQuery,
        reason: Type.Optional(Type.String({ description: 'Only dead letters with this reason.' })),
        topic: Type.Optional(Type.Enum(eventTopics, { description: 'Only dead letters from this topic.' })),
        state: Type.Optional(Type.Enum(states, { description: 'Only dead letters in this state.' })),
        ...timeRangeQuery,
      }),
      responses: { 200: { description: 'One page of dead letters.', schema: keysetPageSchema(deadLetterSchema) } },
      examples: { response: { next: null, results: [deadLetterExample] } },
      handler: async ({ caller, target, query, request }) => {
        const { after, before } = toTimeRange(query);
        const from = decodeCursor(position, query.cursor);
        const { deadLetters } = await find({ caller, target });
        const behind = deadLetters.filter(
          ({ id, topic, state, deadLetter: { at, reason } }) =>
            (query.reason === undefined || reason === query.reason) &&
            (query.topic === undefined || topic === query.topic) &&
            (query.state === undefined || state === query.state) &&
            (after === undefined || at > after) &&
            (before === undefined || at < before) &&
            (from === null || at.getTime() < from.at || (at.getTime() === from.at && id < from.id)),
        );
        const page = behind.slice(0, query.limit);
        const last = page.at(-1);
        const nextPosition =
          last && behind.length > page.length ? { at: last.deadLetter.at.getTime(), id: last.id } : null;
        return keysetPage(request, { nextPosition }, page.map(toDeadLetterResponse));
      },
    }),
    ...defineRoutes({
      ...common,
      method: 'POST',
      path: '/dead_letters/replay',
      operationId: 'dead_letters_replay',
      summary: 'Replay dead letters',
      description:
        'Sends the records of dead letters to their original topics again, at most 100 records and 16 MiB per request. ' +
        'Events that have been stored in the meantime are not changed, so nothing is stored twice. A record that fails ' +
        'again becomes a new dead letter.',
      scope: 'event:write',
      body: deadLetterIds,
      responses: { 200: { description: 'How many records were replayed, and which were skipped.', schema: replayed } },
      examples: { request: { ids: ['live-3-1042'] }, response: { replayed: 1, skipped: [] } },
      handler: async ({ caller, target, body }) => {
        const ids = [...new Set(body.ids)];
        const { log, deadLetters } = await find({ caller, target }, ids);
        let bytes = 0;
        const chosen: DecidedProjectDeadLetter[] = [];
        const skipped: { id: string; why: string }[] = [];
        for (const id of ids) {
          const found = deadLetters.find((one) => one.id === id);
          const why = replayProblem(found, bytes);
          if (found === undefined || why !== null) {
            skipped.push({ id, why: why ?? notFound });
          } else {
            bytes += found.bytes;
            chosen.push(found);
          }
        }
        if (chosen.length > 0) {
          await log.log.append(chosen.map(({ deadLetter }) => toReplayedRecord(deadLetter)));
          await decide({ caller, target }, chosen, 'replayed');
        }
        return { replayed: chosen.length, skipped };
      },
    }),
    ...defineRoutes({
      ...common,
      method: 'POST',
      path: '/dead_letters/discard',
      operationId: 'dead_letters_discard',
      summary: 'Discard dead letters',
      description:
        'Marks waiting dead letters as discarded. Their records stay in the event log until its retention period ends.',
      scope: 'event:write',
      body: deadLetterIds,
      responses: { 200: { description: 'How many dead letters were discarded.', schema: discarded } },
      examples: { request: { ids: ['live-3-1042'] }, response: { discarded: 1 } },
      handler: async ({ caller, target, body }) => {
        const { deadLetters } = await find({ caller, target });
        const chosen = deadLetters.filter(({ id, state }) => state === 'waiting' && body.ids.includes(id));
        if (chosen.length > 0) await decide({ caller, target }, chosen, 'discarded');
        return { discarded: chosen.length };
      },
    }),
    ...defineRoutes({
      ...common,
      method: 'GET',
      path: '/dead_letters/:id',
      operationId: 'dead_letters_retrieve',
      summary: 'Show a dead letter',
      description: 'Returns one dead letter, including the record as it was captured.',
      scope: 'event:read',
      params: Type.Object({ id: Type.String({ description: 'ID of the dead letter.' }) }),
      responses: { 200: { description: 'The dead letter.', schema: deadLetterWithRecord } },
      examples: {
        response: { ...deadLetterExample, record: { kind: 'event', event: 'checkout', distinct_id: 'user-42' } },
      },
      handler: async ({ caller, target, params: { id } }) => {
        if (!new RegExp(idPattern).test(id)) throw new AppError('not_found', 'Not found.');
        const { deadLetters } = await find({ caller, target }, [id]);
        const found = deadLetters.find((one) => one.id === id);
        if (found === undefined) throw new AppError('not_found', 'Not found.');
        const { hasValue, record } = found.deadLetter;
        return { ...toDeadLetterResponse(found), record: hasValue ? readCapturedEvents(record.value) : null };
      },
    }),
  ];
}

type State = (typeof states)[number];
type DecidedProjectDeadLetter = ProjectDeadLetter & { state: State };

function stateOf({ deadLetter }: ProjectDeadLetter, decisions: ReadonlyMap<string, DecidedDeadLetter>): State {
  return findDeadLetterDecision(deadLetter, decisions) ?? 'waiting';
}

const notFound = 'Dead letter not found.';

/**
 * Returns the reason why a dead letter cannot be replayed, or null if it can. `bytesBefore` is the size of the records
 * that the request already contains.
 */
function replayProblem(found: DecidedProjectDeadLetter | undefined, bytesBefore: number): string | null {
  if (found === undefined) return notFound;
  if (found.state !== 'waiting') return `The dead letter was already ${found.state}.`;
  if (!found.deadLetter.hasValue)
    return 'The record was too large to be stored with its dead letter, so it cannot be replayed.';
  return bytesBefore + found.bytes > maxReplayedBytes && bytesBefore > 0
    ? 'The records in one request can have at most 16 MiB. Replay this record in a separate request.'
    : null;
}

function toDeadLetterResponse({
  id,
  topic,
  deadLetter,
  capturedAt,
  event,
  distinctId,
  bytes,
  state,
}: DecidedProjectDeadLetter) {
  return {
    id,
    topic,
    reason: deadLetter.reason,
    ...describeReason(deadLetter.reason),
    captured_at: capturedAt,
    dead_at: formatDateTime(deadLetter.at),
    event,
    distinct_id: distinctId,
    bytes,
    state,
  };
}
