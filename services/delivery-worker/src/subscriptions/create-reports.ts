// Computes the numbers of due reports before they are sent.

import type { Database } from '@millrace/db';
import { createBudgetError, type EventStore, OverBudget, runQuery, type SqlParser } from '@millrace/insights';
import { createReport } from '@millrace/reports';
import { AppError, type Logger } from '@millrace/runtime';
import type { FairSlots } from '../poll.ts';
import { type ClaimedReport, claimReports, saveReport } from './store.ts';

/** Number of reports that are computed at the same time. Each needs a connection. */
export const reportsAtOnce = 2;
export const maxQueryMs = 30_000;
/** Time limit for all queries of a report in milliseconds. Insights whose queries exceed it show an error. */
const longestReportMs = 90_000;
/** How long a claim lasts in seconds. This is longer than any attempt takes. */
const leaseSeconds = 120;
/**
 * Maximum number of attempts. If the worker stopped during all of them, the report may have caused that, so it fails.
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
 * Starts computing due reports that have no numbers yet. A report is computed once for all its targets. If the database
 * is unavailable, nothing is stored, and the report is computed again when its claim expires.
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
