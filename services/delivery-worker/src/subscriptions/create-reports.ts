// Computes the numbers in due reports before the reports are sent.

import type { Database } from '@millrace/db';
import { createBudgetError, type EventStore, OverBudget, runQuery, type SqlParser } from '@millrace/insights';
import { createReport } from '@millrace/reports';
import { AppError, type Logger } from '@millrace/runtime';
import type { FairSlots } from '../poll.ts';
import { type ClaimedReport, claimReports, saveReport } from './store.ts';

/** Number of reports that are computed concurrently. Each report occupies a connection. */
export const reportsAtOnce = 2;
/** Time limit for a single query, in milliseconds. */
export const maxQueryMs = 30_000;
/** Time limit for all of a report's queries, in milliseconds. Insights whose queries exceed the limit show an error. */
const longestReportMs = 90_000;
/** Duration of a claim in seconds, which exceeds the time for any attempt. */
const leaseSeconds = 120;
/**
 * Maximum number of attempts. If the worker stopped during every attempt, the report may be the cause, so the report
 * fails.
 */
const maxAttempts = 5;
const maxBytes = 128 * 1024 * 1024;

export interface CreateReportsDeps {
  database: Pick<Database, 'sql'>;
  events: EventStore;
  parser: SqlParser;
  logger: Logger;
  /** Aborts when the worker stops. Another worker then repeats the unfinished queries. */
  stopping: AbortSignal;
}

/**
 * Starts computing due reports that have no numbers yet. Computes each report once for all targets of the same date. If
 * the database is unavailable, nothing is stored, and another attempt starts when the claim expires.
 * @returns whether more reports may be due
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
