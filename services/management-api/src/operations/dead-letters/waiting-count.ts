// Counts an environment's dead letters that were neither replayed nor discarded.

import type { Sql } from '@millrace/db';
import { readDeadLetterDecisions } from '@millrace/db';
import { findDeadLetterDecision } from '@millrace/event-log';
import { LRUCache } from 'lru-cache';
import { findEnvironmentToken } from '../../analytics/send-event/store.ts';
import { type DeadLetterLog, readDeadLetters } from './read-dead-letters.ts';

interface CachedCount {
  /** Identifies the end offsets and decisions for which the count is valid. */
  state: string;
  at: number;
  waiting: Promise<number>;
}

/**
 * Maximum age of a count in milliseconds. A newer count is reused even if dead letters have arrived, or were replayed
 * or discarded.
 */
const maxAgeMs = 30_000;

/**
 * Creates the counter. It reads the topic only after new dead letters or decisions, and at most every half minute for
 * each environment. In all other cases, a count takes only one request for the end offsets and one query for the
 * decisions.
 */
export function createWaitingCount({ sql, log }: { sql: Sql; log: DeadLetterLog }) {
  const counts = new LRUCache<number, CachedCount>({ max: 1000 });

  async function stateOfTopic(): Promise<string> {
    const [ends, decided] = await Promise.all([
      log.log.endOffsets(log.topics.deadLetter),
      sql.query<{ state: string }>(`SELECT count(*) || ' ' || max(decided_at) AS state FROM dead_letter_decision`),
    ]);
    return `${ends.map((end) => `${end.log} ${end.partition} ${end.endOffset}`).join()} ${decided[0]?.state}`;
  }

  async function read(environmentId: number): Promise<number> {
    const token = await findEnvironmentToken(sql, environmentId);
    const deadLetters = await readDeadLetters(log, { environmentId, token: token ?? '' });
    const decisions = await readDeadLetterDecisions(sql);
    return deadLetters.filter(({ deadLetter }) => findDeadLetterDecision(deadLetter, decisions) === null).length;
  }

  return {
    /**
     * Counts an environment's dead letters that were neither replayed nor discarded.
     * @throws AppError `unavailable` if the log does not respond
     */
    async count(environmentId: number): Promise<number> {
      const state = await stateOfTopic();
      const known = counts.get(environmentId);
      if (known !== undefined && (known.state === state || Date.now() - known.at < maxAgeMs)) return known.waiting;
      const counted = { state, at: Date.now(), waiting: read(environmentId) };
      counts.set(environmentId, counted);
      counted.waiting.catch(() => {
        if (counts.get(environmentId) === counted) counts.delete(environmentId);
      });
      return counted.waiting;
    },
  };
}
