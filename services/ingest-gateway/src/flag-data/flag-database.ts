import { isTransientError, type Sql } from '@millrace/db/sql';
import { isAppError } from '@millrace/errors';
import { createCircuitBreaker } from '../access/circuit-breaker.ts';
import { createSlots, type SlotLimits } from '../access/slots.ts';
import { storeTimeLimits } from '../access/store-time-limits.ts';
import { withTimeLimit } from '../access/time-limit.ts';

/** The database as flags may use it: a question is answered soon, or not at all. */
export interface FlagDatabase {
  /** For what belongs to one request: it waits a quarter of a second. */
  requests: Sql;
  /** For definitions: they may be large, and are remembered. */
  definitions: Sql;
  /** Whether nothing is asked at the moment, because the database does not answer. */
  isResting(): boolean;
}

/** Of the pool for definitions. */
export const definitionConnections = 2;
const restAfterFailureMs = 1000;
/** A single connection may be ended on purpose. */
const failuresToOpen = 3;

/**
 * Each kind has connections, a queue and a breaker of its own: where many ask for what is stored, changes of flags are
 * heard of all the same.
 *
 * @param pools what is given up goes on in the database for a while, so they share no connections either.
 * @param connections how many the pool for requests has: the time limit shall measure the database and not a queue in
 * front of it.
 */
export function createFlagDatabase(
  pools: Record<'requests' | 'definitions', Sql>,
  connections: number,
  { timeLimits = storeTimeLimits, restMs = restAfterFailureMs } = {},
): FlagDatabase {
  const isFailure = (error: unknown) => isTransientError(error) || isAppError(error, 'unavailable');
  const within = (sql: Sql, { limitMs, ...limits }: SlotLimits & { limitMs: number }) => {
    const slots = createSlots(limits);
    const breaker = createCircuitBreaker({ restMs, failuresToOpen, isFailure });
    const asked: Sql = {
      query: (text, values) => slots.run(() => breaker.run(() => withTimeLimit(sql.query(text, values), limitMs))),
    };
    return { sql: asked, isOpen: breaker.isOpen };
  };
  const requests = within(pools.requests, {
    ...{ max: connections, maxWaiting: 500, waitMs: timeLimits.flagDataTurnMs },
    limitMs: timeLimits.flagDataMs,
  });
  const definitions = within(pools.definitions, {
    ...{ max: definitionConnections, maxWaiting: 500, waitMs: timeLimits.definitionsTurnMs },
    limitMs: timeLimits.definitionsMs,
  });
  return {
    requests: requests.sql,
    definitions: definitions.sql,
    isResting: () => requests.isOpen() || definitions.isOpen(),
  };
}
