// The delivery worker's background tasks, and their intervals.

import type { LookUpChallenge } from '@millrace/accounts';
import { type Database, deleteExpiredSalts, type ReadPool } from '@millrace/db';
import type { EventStore, SqlParser } from '@millrace/insights';
import type { Logger, Metrics, SecretBox, Stoppable } from '@millrace/runtime';
import type { Mailer } from '@millrace/runtime/mail';
import { planBackfill, planRun } from './batch-exports/plan.ts';
import { createCopiedUntil, createSettledUntil } from './batch-exports/read.ts';
import { createExportMetrics, runDueExports } from './batch-exports/run.ts';
import { countDueCohorts, createCohortMetrics } from './cohorts/count.ts';
import { deleteEnvironmentData, deletePersonData } from './deletion/delete-data.ts';
import { deleteOldIdRecords } from './deletion/store.ts';
import { checkDomains } from './domains/check-domains.ts';
import { dropCopiedMonths } from './event-store/drop-copied.ts';
import { type CopyTarget, createCopyMetrics, createEventCopier } from './event-store/follow.ts';
import {
  createPersonCopyMetrics,
  createPersonFollower,
  stopRecordingPersonChanges,
} from './event-store/follow-persons.ts';
import { createFairSlots, createPollMetrics, runAtIntervals, startPolling, type Task } from './poll.ts';
import { createRetentionTasks, deleteOldRecords, type RetentionOptions } from './retention/retention.ts';
import { encryptClientSecrets, encryptExportSecrets, encryptFlagPayloads, encryptTotpSecrets } from './sealing/seal.ts';
import { createDueReports, reportsAtOnce } from './subscriptions/create-reports.ts';
import { createDeliveryMetrics, deliverDueReports } from './subscriptions/deliver.ts';
import { scheduleDueReports } from './subscriptions/schedule.ts';

export interface WorkerDeps {
  database: Database;
  reader: Pick<ReadPool, 'read'>;
  mailer: Mailer | null;
  events: EventStore;
  parser: SqlParser;
  /**
   * The ClickHouse copy of events. PostgreSQL drops copied events after `keepDays` days. If `keepDays` is 0, it keeps
   * them as long as ClickHouse does. Null if events are not copied.
   */
  copying: (CopyTarget & { keepDays: number }) | null;
  logger: Logger;
  metrics: Metrics;
  secretBox: SecretBox;
}

export interface WorkerOptions extends RetentionOptions {
  publicAppUrl: string | undefined;
  publicApiUrl: string | undefined;
  mayBePrivate: boolean;
  pollIntervalMs: number;
  /** Maximum number of emails per organization and hour, or 0 for unlimited. */
  mailsPerHour: number;
  /** The number of concurrent exports. Each one needs a connection. */
  exportsAtOnce: number;
  /** How long deliveries and export runs are kept, in days. */
  keepOutcomesDays: number;
  /** How long the hashed IDs of deleted persons are kept, in days. */
  keepDeletedIdsDays: number;
  /** How often an unchanged cohort is counted again, in hours. */
  recountCohortsHours: number;
  lookUpChallenge: LookUpChallenge;
  postTimeoutMs?: number;
}

const hourMs = 3_600_000;
/** Time limit in milliseconds for reading all of a project's persons. Enough for tens of millions of persons. */
const maxCohortWalkMs = 15 * 60_000;
/** The minimum age in seconds at which events are copied to ClickHouse. */
const copySettleSeconds = 5;
/**
 * Maximum number of concurrent deliveries, in total and per organization. If a target does not respond, its delivery
 * occupies a slot until the time limit.
 */
const sentAtOnce = { max: 20, maxEach: 5 };

/** Starts all background tasks of this service. Replicas share the work by locking rows. */
export function startWorker(deps: WorkerDeps, options: WorkerOptions): Stoppable {
  const { database, logger, secretBox } = deps;
  const metrics = createPollMetrics(deps.metrics);
  const deliverDeps = {
    ...deps,
    ...options,
    postTimeoutMs: options.postTimeoutMs ?? 10_000,
    counter: createDeliveryMetrics(deps.metrics),
  };
  const { mayBePrivate } = options;
  const { copying } = deps;
  const isCopied = copying !== null;
  const settled = createSettledUntil({ sql: database.sql, logger });
  const exportDeps = {
    database,
    logger,
    secretBox,
    mayBePrivate,
    counter: createExportMetrics(deps.metrics),
    settledUntil: isCopied ? createCopiedUntil(database.sql, settled) : settled,
    events: deps.events,
    parser: deps.parser,
    isCopied,
  };
  const cohortDeps = {
    database,
    reader: deps.reader,
    logger,
    counter: createCohortMetrics(deps.metrics),
    recountHours: options.recountCohortsHours,
    maxWalkMs: maxCohortWalkMs,
  };
  const reports = createFairSlots('deliver_reports', { ...sentAtOnce, logger });
  const making = createFairSlots('make_reports', { max: reportsAtOnce, maxEach: 1, logger });
  // One export at a time per organization, so that a large organization does not delay the others.
  const exports = createFairSlots('export', { max: options.exportsAtOnce, maxEach: 1, logger });
  const follow =
    copying &&
    createEventCopier({
      database,
      logger,
      target: copying,
      gauge: createCopyMetrics(deps.metrics),
      eventRetentionDays: options.eventRetentionDays,
      settledUntil: createSettledUntil({ sql: database.sql, logger, settleSeconds: copySettleSeconds }),
      settleSeconds: copySettleSeconds,
      minPortionMs: 5000,
    });
  const followPersons =
    copying === null
      ? runAtIntervals(hourMs, () => stopRecordingPersonChanges(database))
      : createPersonFollower({ database, target: copying, gauge: createPersonCopyMetrics(deps.metrics) });
  const drop =
    copying && copying.keepDays > 0 ? () => dropCopiedMonths({ ...deps, ...copying }, copying.keepDays) : null;
  const tasks: Task[] = [
    { name: 'schedule_subscriptions', work: () => scheduleDueReports(database, new Date()) },
    { name: 'make_reports', work: (signal) => createDueReports({ ...deps, stopping: signal }, making) },
    { name: 'deliver_reports', work: () => deliverDueReports(deliverDeps, reports) },
    { name: 'plan_exports', work: () => planRun(exportDeps) },
    { name: 'plan_backfills', work: () => planBackfill(database) },
    { name: 'export', work: (signal) => runDueExports(exportDeps, signal, exports) },
    { name: 'seal_secrets', work: () => encryptExportSecrets({ database, logger, secretBox }) },
    { name: 'seal_totp_secrets', work: () => encryptTotpSecrets({ database, logger, secretBox }) },
    { name: 'seal_client_secrets', work: () => encryptClientSecrets({ database, logger, secretBox }) },
    { name: 'check_domains', work: () => checkDomains({ database, logger, mailer: deps.mailer, ...options }) },
    { name: 'seal_flag_payloads', work: (signal) => encryptFlagPayloads({ database, logger, secretBox }, signal) },
    { name: 'count_cohorts', work: (signal) => countDueCohorts(cohortDeps, signal) },
    { name: 'delete_person_data', work: () => deletePersonData(database, { isCopied }) },
    { name: 'clean_up', work: () => deleteEnvironmentData(database, { isCopied }) },
    ...(follow === null ? [] : [{ name: 'copy_events', work: follow }]),
    { name: 'copy_persons', work: followPersons },
    ...(drop === null ? [] : [{ name: 'drop_copied_months', work: runAtIntervals(hourMs, drop) }]),
    ...createRetentionTasks({ database, logger }, options),
    { name: 'forget_deleted_ids', work: () => deleteOldIdRecords(database.sql, options.keepDeletedIdsDays) },
    { name: 'forget_salts', work: async () => (await deleteExpiredSalts(database.sql)) > 0 },
    { name: 'forget_old', work: () => deleteOldRecords(database.sql, options.keepOutcomesDays) },
  ];
  const running = tasks.map((task) => startPolling(task, { intervalMs: options.pollIntervalMs, logger, metrics }));
  return {
    async stop() {
      await Promise.all(running.map((part) => part.stop()));
      await Promise.all([making.settle(), reports.settle(), exports.settle()]);
    },
  };
}
