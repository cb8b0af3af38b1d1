/**
 * Runs batch exports: claims due runs, copies their rows to the destination, and retries after failures.
 *
 * The states of a run, as in PostHog's API:
 *
 * | State | Event | Next state | Effect |
 * |---|---|---|---|
 * | Starting, FailedRetryable | due, and a worker claims the run | Running | counts as an attempt |
 * | Running | a page was written | Running | the claim is renewed |
 * | Running | the rows are committed at the destination | Completed | |
 * | Running | an error that another attempt may fix | FailedRetryable | due again after a delay |
 * | Running | a permanent error, or an error in the last attempt | Failed | |
 * | Running | the worker stops | Starting | the attempt does not count, and the next one starts over |
 * | Running | the worker crashes, so the claim expires | Running | another worker claims the run and starts over |
 * | not Completed or Failed | a user cancels the run | Cancelled | the worker notices at the next page and commits nothing |
 *
 * Starting over creates no duplicates, because S3 replaces the object of an earlier attempt, and PostgreSQL replaces
 * rows with the same key.
 */

import type { Database } from '@millrace/db';
import {
  type Condition,
  type EventStore,
  type PreparedExport,
  prepareExport,
  readEventFilters,
  type SqlParser,
  SqlProblem,
} from '@millrace/insights';
import { isAppError, type Logger, type Metrics, type SecretBox, SecretBoxError } from '@millrace/runtime';
import type { FairSlots } from '../poll.ts';
import {
  type ClaimedRun,
  DestinationError,
  type DestinationOptions,
  type DestinationWriter,
  type EventRecord,
  type ExportedRow,
  type OpenedRun,
  type PersonRecord,
} from './destination.ts';
import { openPostgresWriter } from './postgres.ts';
import { readPages, readSelectedPages, readStoredPages, type SettledUntil } from './read.ts';
import { openS3Writer } from './s3.ts';
import { claimRun, completeRun, failRun, openCursor, releaseRun, renewClaim, selectEventsOfRun } from './store.ts';

/**
 * How long a claim lasts in seconds. It is renewed after every page, so it must outlast one page and the commit, but
 * not the whole run.
 */
const leaseSeconds = 900;
/** Delays in seconds before the second and each following attempt. The run fails after the last attempt. */
const retryDelaysSeconds = [30, 120, 600, 3600];

export interface ExportRunDeps extends DestinationOptions {
  database: Database;
  logger: Logger;
  secretBox: SecretBox;
  settledUntil: SettledUntil;
  events: EventStore;
  /** Whether events are copied to ClickHouse. If so, exports read them there. */
  isCopied: boolean;
  parser: SqlParser;
  counter: ReturnType<typeof createExportMetrics>;
}

/**
 * Thrown if this worker must stop processing a run. If the run was cancelled or claimed by another worker, nothing is
 * recorded. If this worker is stopping, it releases the claim.
 */
class Interrupted extends Error {}

/**
 * Starts a due run, in addition to those in progress.
 * @param signal a signal that is aborted when the worker stops. Runs are then released at their next page
 * @returns whether more runs may be due
 */
export async function runDueExports(deps: ExportRunDeps, signal: AbortSignal, slots: FairSlots): Promise<boolean> {
  if (slots.free() === 0) {
    await slots.released();
    return true;
  }
  const { sql } = deps.database;
  const settledUntil = await deps.settledUntil();
  const run = await claimRun(sql, {
    leaseSeconds,
    settledUntil,
    usage: slots.usage(),
    isCopied: deps.isCopied,
  });
  if (!run) return false;
  slots.start(run.organization_id, () => doRun(run, deps, signal));
  return true;
}

/** Exports a run's interval completely or not at all. Keeps only one page in memory, however large the interval is. */
async function doRun(run: ClaimedRun, deps: ExportRunDeps, signal: AbortSignal): Promise<void> {
  const { sql } = deps.database;
  const labels = { destination: run.destination_type, model: run.model };
  try {
    if (run.attempts > retryDelaysSeconds.length + 1)
      throw new DestinationError('Every attempt was interrupted, because the worker stopped during the attempt.', {
        isPermanent: true,
        cause: null,
      });
    await completeRun(sql, run, await copy(run, deps, signal));
    deps.counter.inc({ ...labels, result: 'completed' });
  } catch (error) {
    if (error instanceof Interrupted) {
      if (signal.aborted) await releaseRun(sql, run);
      return;
    }
    deps.counter.inc({ ...labels, result: 'failed' });
    await recordFailure(run, error, deps);
  }
}

async function recordFailure(run: ClaimedRun, error: unknown, { database, logger }: ExportRunDeps): Promise<void> {
  const isTheirs = error instanceof DestinationError;
  const isPermanent = isTheirs && error.isPermanent;
  const delaySeconds = isPermanent ? null : (retryDelaysSeconds[run.attempts - 1] ?? null);
  const { id: runId, batch_export_id: batchExportId, attempts } = run;
  if (isTheirs) logger.warn('batch export run failed', { runId, batchExportId, attempts, reason: error.message });
  else logger.error('batch export run failed: internal error', { runId, batchExportId, attempts, error });
  await failRun(database.sql, run, {
    error: isTheirs
      ? error.message
      : 'The export failed because of an error in this installation, not at the destination.',
    delaySeconds,
  });
}

async function copy(
  run: ClaimedRun,
  deps: ExportRunDeps,
  signal: AbortSignal,
): Promise<{ records: number; bytes: number }> {
  const where = await readFilters(run, deps);
  const query = await readQuery(run, deps);
  const writer = await openWriter({ ...openSecrets(run, deps.secretBox), columns: query?.columns ?? null }, deps);
  try {
    const records = await copyPages(run, { where, query, writer, deps, signal });
    // A run may have been cancelled since its last page. If so, it must not become visible at the destination.
    await keepClaim(run, records, { deps, signal });
    await writer.commit();
    return { records, bytes: writer.bytes() };
  } finally {
    await writer.close();
  }
}

/** Parses the filters. They were valid when they were saved, but may name a cohort that has since been deleted. */
async function readFilters(run: ClaimedRun, { database }: ExportRunDeps): Promise<Condition> {
  const { environment_id: projectId, filters } = run;
  try {
    return await readEventFilters(database.sql, { projectId, filters: filters ?? [], now: Date.now() });
  } catch (cause) {
    if (!isAppError(cause, 'invalid')) throw cause;
    throw new DestinationError(`The filters of the export are no longer valid. ${cause.message}`, {
      isPermanent: true,
      cause,
    });
  }
}

/** Parses the query. It was valid when it was saved, but maybe for another version of Millrace. */
async function readQuery(
  run: ClaimedRun,
  { database: { sql }, parser }: ExportRunDeps,
): Promise<PreparedExport | null> {
  const { query, environment_id: projectId } = run;
  if (query === null) return null;
  try {
    return await prepareExport({ sql, parser }, { projectId, query, now: Date.now() });
  } catch (cause) {
    if (!(cause instanceof SqlProblem)) throw cause;
    throw new DestinationError(`The query of the export is no longer valid. ${cause.message}`, {
      isPermanent: true,
      cause,
    });
  }
}

interface Copying {
  where: Condition;
  query: PreparedExport | null;
  writer: DestinationWriter;
  deps: ExportRunDeps;
  signal: AbortSignal;
}

/** Copies a run's rows page by page. @returns the number of written rows */
function copyPages(run: ClaimedRun, { where, query, writer, deps, signal }: Copying): Promise<number> {
  const { database, events, isCopied } = deps;
  if (query !== null) return writeAll(readSelectedPages({ events, query }, selectEventsOfRun(run, where), signal));
  if (run.model === 'events' && isCopied)
    return writeAll(readStoredPages(events, selectEventsOfRun(run, where), signal));
  return database.transaction(async (tx) => {
    await openCursor(tx, run, where);
    return writeAll(run.model === 'persons' ? readPages<PersonRecord>(tx) : readPages<EventRecord>(tx));
  });

  async function writeAll(pages: AsyncGenerator<readonly ExportedRow[]>): Promise<number> {
    let records = 0;
    for await (const rows of pages) {
      await writer.write(rows);
      records += rows.length;
      await keepClaim(run, records, { deps, signal });
    }
    return records;
  }
}

async function keepClaim(
  run: ClaimedRun,
  records: number,
  { deps, signal }: Pick<Copying, 'deps' | 'signal'>,
): Promise<void> {
  if (signal.aborted) throw new Interrupted();
  if (!(await renewClaim(deps.database.sql, run, { records, leaseSeconds }))) throw new Interrupted();
}

/** Decrypts the secrets. A missing key is not a permanent error, because an operator can still configure it. */
function openSecrets(run: ClaimedRun, box: SecretBox): Omit<OpenedRun, 'columns'> {
  try {
    return {
      ...run,
      settings: { ...run.destination_config, ...box.open(run.destination_secrets, run.batch_export_id) },
    };
  } catch (cause) {
    if (!(cause instanceof SecretBoxError)) throw cause;
    throw new DestinationError('The secrets of the destination cannot be decrypted. Set them again.', { cause });
  }
}

function openWriter(run: OpenedRun, options: DestinationOptions): Promise<DestinationWriter> {
  switch (run.destination_type) {
    case 'Postgres':
      return openPostgresWriter(run, options);
    case 'S3':
      return openS3Writer(run, options);
  }
}

export function createExportMetrics(metrics: Metrics) {
  return metrics.counter('millrace_batch_export_attempts_total', 'Attempts to execute a batch export run, by result', [
    'destination',
    'model',
    'result',
  ]);
}
