// Questions about events, from whoever asks: each within its budget, and only so many at once.

import { formatDateTime } from '@millrace/http';
import {
  cacheKey,
  freshForMs,
  OverBudget,
  type QueryAnswer,
  type QueryDeps,
  runQuery,
  withFilters,
} from '@millrace/insights';
import { AppError } from '@millrace/runtime';
import type { AddressedProject } from '../../access/addressed-store.ts';
import type { Caller } from '../../access/caller.ts';
import type { Searches } from '../../access/searches.ts';

export interface Question {
  /** As it was sent. */
  query: unknown;
  /** Filters of a dashboard on top of it. */
  filters?: unknown;
  /** Aborted when nobody waits for the answer any more. */
  signal: AbortSignal;
  now?: Date;
}

/** An answer with what clients keep with it. */
export interface AnsweredQuestion extends QueryAnswer {
  is_cached: boolean;
  last_refresh: string;
  next_allowed_client_refresh: string;
  cache_target_age: string;
  cache_key: string;
}

export interface Questions {
  /** @throws AppError `invalid` naming the part of the query or the limit that was reached, `rate_limited`, `unavailable`. */
  ask(
    asker: { caller: Pick<Caller, 'credential'>; target: AddressedProject },
    question: Question,
  ): Promise<AnsweredQuestion>;
}

interface QuestionsOptions extends QueryDeps {
  turns: Searches;
  maxMs: number;
}

const maxBytes = 256 * 1024 * 1024;
/** Clients that show the same answer again need not ask sooner. */
const clientPauseMs = 180_000;
const narrowing = 'a shorter range, filters or no breakdown';

export function createQuestions({ turns, maxMs, ...deps }: QuestionsOptions): Questions {
  return {
    async ask(asker, { query: sent, filters, signal, now = new Date() }) {
      const projectId = asker.target.environmentId;
      const query = withFilters(sent, filters);
      const asked = { projectId, query, now: now.getTime() };
      try {
        const answer = await turns.run(asker, narrowing, () => runQuery(deps, asked, { signal, maxMs, maxBytes }));
        const after = (ms: number) => formatDateTime(new Date(now.getTime() + ms));
        return {
          ...answer,
          is_cached: false,
          last_refresh: after(0),
          next_allowed_client_refresh: after(clientPauseMs),
          cache_target_age: after(freshForMs(query)),
          cache_key: cacheKey({ projectId, timezone: answer.timezone, query }),
        };
      } catch (error) {
        throw error instanceof OverBudget ? overBudget(error, maxMs) : error;
      }
    },
  };
}

/** The query's own fault, so that nobody repeats it unchanged. */
function overBudget(error: OverBudget, maxMs: number): AppError {
  const isTime = error.limit === 'time';
  const limit = isTime ? `${Math.round(maxMs / 1000)} seconds` : 'the memory there is for one query';
  return new AppError('invalid', `The query takes more than ${limit}. Narrow it with ${narrowing}.`, {
    code: isTime ? 'query_timeout' : 'query_too_large',
    attr: 'query',
    cause: error,
  });
}
