// The numbers of reports that are due, before anybody is sent one.

import type { Database } from '@millrace/db';
import { budgetProblem, type EventStore, OverBudget, runQuery } from '@millrace/insights';
import { makeReport } from '@millrace/insights/report';
import { AppError, type Logger } from '@millrace/runtime';
import type { FairSlots } from '../poll.ts';
import { type ClaimedReport, claimReports, keepReport } from './store.ts';

/** Each takes a connection. */
export const reportsAtOnce = 2;
/** Of one question. */
export const longestQuestionMs = 30_000;
/** All questions of a report together: what is not answered by then says so in its place. */
const longestReportMs = 90_000;
/** Longer than any attempt can take. */
const leaseSeconds = 120;
/** A report that has taken its worker down every time is not tried for ever. */
const mostAttempts = 5;
const maxBytes = 128 * 1024 * 1024;

export interface MakeReportsDeps {
  database: Pick<Database, 'sql'>;
  events: EventStore;
  logger: Logger;
  /** Aborted when the worker stops: what was not answered is asked again by another. */
  stopping: AbortSignal;
}

/**
 * Begins to compute reports that are to be sent and have no numbers yet, once for all targets of a date. Where the database does not
 * answer nothing is kept, and the next attempt comes when the claim is over. @returns whether there may be more.
 */
export async function makeDueReports(deps: MakeReportsDeps, slots: FairSlots): Promise<boolean> {
  if (slots.free() === 0) {
    await slots.released();
    return true;
  }
  const claimed = await claimReports(deps.database.sql, { limit: slots.free(), leaseSeconds, usage: slots.usage() });
  for (const report of claimed) slots.start(report.organization_id, () => makeOne(report, deps));
  return claimed.length > 0;
}

async function makeOne(report: ClaimedReport, { database: { sql }, events, stopping, logger }: MakeReportsDeps) {
  const isGivenUp = report.attempts > mostAttempts;
  if (isGivenUp) logger.error('computing a report failed', { subscriptionId: report.subscription_id });
  const giveUpAt = performance.now() + longestReportMs;

  async function ask(query: unknown, now: number) {
    if (isGivenUp) throw new AppError('unavailable', 'Every attempt to compute the results was interrupted.');
    const maxMs = Math.min(longestQuestionMs, giveUpAt - performance.now());
    if (maxMs <= 0) throw new AppError('unavailable', 'The time limit for this report was reached.');
    try {
      const asked = { projectId: report.environment_id, query, now };
      return await runQuery({ sql, events }, asked, { signal: stopping, maxMs, maxBytes });
    } catch (error) {
      throw error instanceof OverBudget ? budgetProblem(error, maxMs) : error;
    }
  }

  const { environment_id: projectId, insight, dashboard, dashboard_export_insights: chosen, due_at: dueAt } = report;
  const content = await makeReport({ sql, ask }, { projectId, insight, dashboard, chosen, dueAt });
  await keepReport(sql, report, content);
}
