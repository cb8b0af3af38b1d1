import { isTransientError, type Sql } from '@millrace/db/sql';
import { isAppError } from '@millrace/errors';
import { createCircuitBreaker } from '../access/circuit-breaker.ts';
import { createSlots } from '../access/slots.ts';
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

const requestLimitMs = 250;
const definitionsLimitMs = 2500;
const restAfterFailureMs = 1000;
/** A single connection may be ended on purpose. */
const failuresToOpen = 3;

/** @param connections how many the pool has: the time limit shall measure the database and not a queue in front of it. */
export function createFlagDatabase(sql: Sql, connections: number): FlagDatabase {
  const slots = createSlots({ max: connections, maxWaiting: 500, waitMs: 100 });
  const isFailure = (error: unknown) => isTransientError(error) || isAppError(error, 'unavailable');
  const breaker = createCircuitBreaker({ restMs: restAfterFailureMs, failuresToOpen, isFailure });
  const within = (limitMs: number): Sql => ({
    query: (text, values) => slots.run(() => breaker.run(() => withTimeLimit(sql.query(text, values), limitMs))),
  });
  return { requests: within(requestLimitMs), definitions: within(definitionsLimitMs), isResting: breaker.isOpen };
}
