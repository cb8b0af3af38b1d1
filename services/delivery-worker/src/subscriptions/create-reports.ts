// Computes the numbers of due reports, before they are sent.

import type { Database } from '@millrace/db';
import { createBudgetError, type EventStore, OverBudget, runQuery, type SqlParser } from '@millrace/insights';
import { createReport } from '@millrace/reports';
import { AppError, type Logger } from '@millrace/runtime';
import type { FairSlots } from '../poll.ts';
import { type ClaimedReport, claimReports, saveReport } from './store.ts';

/** The number of reports that are computed at the same time. Each one occupies a connection. */
export const reportsAtOnce = 2;
/** The time limit of a single query, in milliseconds. */
export const maxQueryMs = 30_000;
/** The time limit of all queries of a report. Insights that have no result by then show an error. */
const longestReportMs = 90_000;
/** This is longer than any attempt takes. */
const leaseSeconds = 120;
/** The report is given up if the worker stopped during this number of attempts, because the report may be the cause. */
const maxAttempts = 5;
const maxBytes = 128 * 1024 * 1024;

export interface CreateReportsDeps {
  database: Pick<Database, 'sql'>;
  events: EventStore;
  parser: SqlParser;
  logger: Logger;
  /** This signal is aborted when the worker stops. Another worker then repeats the queries that have not finished. */
  stopping: AbortSignal;
}

/**
 * Starts computing reports that are due and have no numbers yet, once for all targets of a date. If the database is
 * down, nothing is stored, and the next attempt follows when the claim expires.
 * @returns whether there may be more
 */
export async function createDueReports(deps: CreateReportsDeps, slots: FairSlots): Promise<boolean> {
  if (slots.free() === 0) {
    await slots.released();
    return true;
  }
  const claimed = await claimReports(deps.database.sql, { limit: slots.free(), leaseSeconds, usage: slots.usage() });
  for (const report of claimed) slots.start(report.organization_id, () => makeOne(report, deps));
  return claimed.length > 0;
}

async function makeOne(
  report: ClaimedReport,
  { database: { sql }, events, parser, stopping, logger }: CreateReportsDeps,
) {
  const isGivenUp = report.attempts > maxAttempts;
  if (isGivenUp) logger.error('computing a report failed', { subscriptionId: report.subscription_id });
  const giveUpAt = performance.now() + longestReportMs;

  async function runWithinLimits(query: unknown, now: number) {
    if (isGivenUp) throw new AppError('unavailable', 'Every attempt to compute the results was interrupted.');
    const maxMs = Math.min(maxQueryMs, giveUpAt - performance.now());
    if (maxMs <= 0) throw new AppError('unavailable', 'The time limit for this report was reached.');
    try {
      const request = { projectId: report.environment_id, query, now };
      return await runQuery({ sql, events, parser }, request, { signal: stopping, maxMs, maxBytes });
    } catch (error) {
      throw error instanceof OverBudget ? createBudgetError(error, maxMs) : error;
    }
  }

  const { environment_id: projectId, insight, dashboard, dashboard_export_insights: chosen, due_at: dueAt } = report;
  const content = await createReport(
    { sql, runQuery: runWithinLimits },
    { projectId, insight, dashboard, chosen, dueAt },
  );
  await saveReport(sql, report, content);
}
