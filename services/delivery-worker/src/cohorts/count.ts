// Counts cohort members in the background, and fills static cohorts that are created as copies of a cohort or a flag.

import { type Database, isTransientError, type ReadPool } from '@millrace/db';
import {
  type Audience,
  addPersonsToCohort,
  countCohortMembersByValues,
  countStaticCohortMembers,
  createCohortAudience,
  createFlagAudience,
  matchPersons,
} from '@millrace/flags/cohorts';
import type { Logger, Metrics } from '@millrace/runtime';
import { type ClaimedCohort, claimDueCohorts, releaseClaims, renewClaims, saveCount, saveFailure } from './store.ts';

const leaseSeconds = 300;
/**
 * Time limit in milliseconds for a statement that reads all of a project's persons. It runs without renewing claims.
 */
export const maxStatementMs = 240_000;
/** Maximum number of cohorts that are counted in one pass over a project's persons. */
const maxAtOnce = 50;
const delays = { firstDelaySeconds: 60, maxDelaySeconds: 86_400 };
const hourSeconds = 3600;

export interface CountCohortsDeps {
  database: Pick<Database, 'sql' | 'transaction'>;
  reader: Pick<ReadPool, 'read'>;
  logger: Logger;
  counter: ReturnType<typeof createCohortMetrics>;
  /** How often an unchanged cohort is counted again, in hours. */
  recountHours: number;
  /** The time limit in milliseconds for counting a project's persons. */
  maxWalkMs: number;
}

/** Thrown when the worker is stopping, to release the claims. */
class Stopping extends Error {}
/** Thrown if a cohort cannot be counted. The message is for the cohort's creator. */
class CannotCount extends Error {}

/**
 * Counts the persons in due cohorts, and fills static cohorts that were created as copies. Keeps one page of persons in
 * memory, and no transaction open.
 * @param signal a signal that is aborted when the worker stops. Claims are then released at the next page
 * @returns whether more cohorts may be due
 */
export async function countDueCohorts(deps: CountCohortsDeps, signal: AbortSignal): Promise<boolean> {
  const { database } = deps;
  const claimed = await database.transaction((tx) => claimDueCohorts(tx, { leaseSeconds, limit: maxAtOnce }));
  if (claimed.length === 0) return false;
  const dynamic = claimed.filter(({ is_static }) => !is_static);
  if (dynamic.length > 0) await settled(deps, dynamic, () => countDynamic(deps, dynamic, signal));
  for (const cohort of claimed.filter(({ is_static }) => is_static)) {
    await settled(deps, [cohort], () => fillAndCount(deps, cohort, signal));
  }
  return true;
}

/** Runs `work`, and records a failure. If the database is unavailable, the claims expire instead. */
async function settled(deps: CountCohortsDeps, claimed: ClaimedCohort[], work: () => Promise<void>): Promise<void> {
  const { database, logger, counter } = deps;
  try {
    await work();
  } catch (error) {
    if (isTransientError(error)) throw error;
    if (error instanceof Stopping) {
      await database.transaction((tx) => releaseClaims(tx, claimed));
      return;
    }
    const isTheirs = error instanceof CannotCount;
    if (!isTheirs) logger.error('counting cohorts failed', { cohortIds: claimed.map(({ id }) => id), error });
    const reason = isTheirs
      ? error.message
      : 'The count failed because of an error in this installation, not in the cohort.';
    for (const cohort of claimed) await fail(database, cohort, reason);
    counter.inc({ result: 'failed' }, claimed.length);
  }
}

async function countDynamic(deps: CountCohortsDeps, claimed: ClaimedCohort[], signal: AbortSignal): Promise<void> {
  const { counter, database } = deps;
  const counts = (await countTogether(deps, claimed, signal)) ?? (await countOneByOne(deps, claimed, signal));
  for (const [index, cohort] of claimed.entries()) {
    const count = counts[index] ?? null;
    if (count === null)
      await fail(database, cohort, 'The cohort refers to a cohort that does not exist, or to itself.');
    else await finish(deps, cohort, count);
    counter.inc({ result: count === null ? 'failed' : 'counted' });
  }
}

/** Returns null if one statement cannot count these cohorts. */
async function countTogether(
  { database: { sql }, reader, maxWalkMs }: CountCohortsDeps,
  claimed: ClaimedCohort[],
  signal: AbortSignal,
): Promise<(number | null)[] | null> {
  const cohortIds = claimed.map(({ id }) => id);
  const maxMs = Math.min(maxWalkMs, maxStatementMs);
  const counts = await countCohortMembersByValues(
    { sql, reader },
    { projectId: projectOf(claimed), cohortIds, signal, maxMs },
  ).catch((error: unknown) => {
    throw signal.aborted ? new Stopping() : error;
  });
  if (counts === null) await renewClaims(sql, claimed, leaseSeconds);
  return counts;
}

async function countOneByOne(
  deps: CountCohortsDeps,
  claimed: ClaimedCohort[],
  signal: AbortSignal,
): Promise<(number | null)[]> {
  const ids = claimed.map(({ id }) => id);
  const counts: (number | null)[] = claimed.map(() => 0);
  const audience = await createCohortAudience(deps.database.sql, projectOf(claimed), ids);
  for await (const page of walk(deps, claimed, { audience, signal })) {
    for (const { matches } of page) {
      matches.forEach((isMember, index) => {
        const count = counts[index] ?? null;
        counts[index] = count === null || isMember === null ? null : count + Number(isMember);
      });
    }
  }
  return counts;
}

async function fillAndCount(deps: CountCohortsDeps, cohort: ClaimedCohort, signal: AbortSignal): Promise<void> {
  const { database, counter } = deps;
  const place = { projectId: cohort.project_id, cohortId: cohort.id };
  if (cohort.fill_from !== null) await fill(deps, cohort, signal);
  const count = await database.transaction((tx) => countStaticCohortMembers(tx, place));
  await finish(deps, cohort, count);
  counter.inc({ result: 'counted' });
}

/** Adds members as they are found. A repeated attempt skips members that already exist. */
async function fill(deps: CountCohortsDeps, cohort: ClaimedCohort, signal: AbortSignal): Promise<void> {
  const { fill_from: source, project_id: projectId, id: cohortId } = cohort;
  if (source === null) return;
  const { sql } = deps.database;
  const audience =
    'flag' in source
      ? await createFlagAudience(sql, projectId, source.flag)
      : await createCohortAudience(sql, projectId, [source.cohort]);
  for await (const page of walk(deps, [cohort], { audience, signal })) {
    if (page.some(({ matches }) => matches[0] === null))
      throw new CannotCount('The members of the flag or cohort that this cohort is created from cannot be determined.');
    const values = page.filter(({ matches }) => matches[0] === true).map(({ distinctId }) => distinctId);
    await addPersonsToCohort(deps.database, { projectId, cohortId }, { by: 'distinct_id', values });
  }
}

/**
 * Reads a project's persons page by page while this worker holds the claims of the project's cohorts.
 * @throws Stopping, or CannotCount if the time limit is exceeded
 */
async function* walk(
  { database, maxWalkMs }: CountCohortsDeps,
  claimed: ClaimedCohort[],
  { audience, signal }: { audience: Audience; signal: AbortSignal },
) {
  const startedAt = performance.now();
  let renewedAt = startedAt;
  for await (const page of matchPersons(database.sql, projectOf(claimed), { audience })) {
    yield page;
    if (signal.aborted) throw new Stopping();
    const now = performance.now();
    if (now - startedAt > maxWalkMs) throw new CannotCount('The count took too long.');
    if (now - renewedAt < (leaseSeconds * 1000) / 5) continue;
    await renewClaims(database.sql, claimed, leaseSeconds);
    renewedAt = now;
  }
}

function projectOf([cohort]: ClaimedCohort[]): number {
  if (!cohort) throw new Error('Nothing is claimed.');
  return cohort.project_id;
}

async function finish(
  { database, recountHours }: CountCohortsDeps,
  cohort: ClaimedCohort,
  count: number,
): Promise<void> {
  const nextInSeconds = recountHours * hourSeconds;
  await database.transaction((tx) => saveCount(tx, cohort, { count, nextInSeconds }));
}

async function fail(
  { transaction }: Pick<Database, 'transaction'>,
  cohort: ClaimedCohort,
  error: string,
): Promise<void> {
  await transaction((tx) => saveFailure(tx, cohort, { error, ...delays }));
}

export function createCohortMetrics(metrics: Metrics) {
  return metrics.counter('millrace_cohort_calculations_total', 'Attempts to count the persons in a cohort, by result', [
    'result',
  ]);
}
