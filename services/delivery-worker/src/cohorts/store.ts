// SQL that claims cohorts for counting or filling, and stores the results.

import type { Columns, Sql, Transaction } from '@millrace/db';

export interface ClaimedCohort extends Columns<'cohort', 'id' | 'project_id' | 'is_static'> {
  /** The cohort's version when it was claimed. If the cohort changes during the count, it is counted again. */
  version: number;
  /** The cohort or flag whose members the new cohort must copy first. */
  fill_from: { cohort: number } | { flag: number } | null;
  calculation_id: string;
}

const keptCalculations = 100;

/**
 * Claims the due cohorts of the project that has waited longest, because one pass over a project's persons can count
 * all of its cohorts. A claim lasts `leaseSeconds`. Renew it with `renewClaims`.
 */
export async function claimDueCohorts(
  tx: Transaction,
  { leaseSeconds, limit }: { leaseSeconds: number; limit: number },
): Promise<ClaimedCohort[]> {
  const claimed = await tx.query<ClaimedCohort & Record<string, unknown>>(
    `WITH longest AS (
       SELECT project_id FROM cohort WHERE calculate_at <= now() AND NOT deleted ORDER BY calculate_at LIMIT 1
     ), due AS (
       SELECT c.id FROM cohort c JOIN longest USING (project_id)
        WHERE c.calculate_at <= now() AND NOT c.deleted
        ORDER BY c.calculate_at, c.id LIMIT $2 FOR UPDATE OF c SKIP LOCKED)
     UPDATE cohort c SET calculate_at = now() + make_interval(secs => $1)
       FROM due WHERE c.id = due.id
     RETURNING c.id, c.project_id, c.version, c.is_static, c.fill_from, gen_random_uuid() AS calculation_id`,
    [leaseSeconds, limit],
  );
  if (claimed.length === 0) return [];
  const ids = claimed.map(({ id }) => id);
  await tx.query(
    `UPDATE cohort_calculation SET finished_at = now(), error = 'The attempt did not come to an end.'
      WHERE cohort_id = ANY ($1::int[]) AND finished_at IS NULL`,
    [ids],
  );
  await tx.query(
    `INSERT INTO cohort_calculation (id, cohort_id, started_at)
     SELECT id, cohort_id, clock_timestamp() FROM unnest($1::uuid[], $2::int[]) AS c (id, cohort_id)`,
    [claimed.map(({ calculation_id }) => calculation_id), ids],
  );
  return claimed;
}

export async function renewClaims(sql: Sql, claimed: ClaimedCohort[], leaseSeconds: number): Promise<void> {
  await sql.query(
    `UPDATE cohort c SET calculate_at = now() + make_interval(secs => $3)
       FROM unnest($1::int[], $2::int[]) AS claim (id, version)
      WHERE c.id = claim.id AND c.version = claim.version AND c.calculate_at > now()`,
    [claimed.map(({ id }) => id), claimed.map(({ version }) => version), leaseSeconds],
  );
}

/** If the cohort changed during the count, updates only the calculation record. */
export async function saveCount(
  tx: Transaction,
  { id, version, calculation_id }: ClaimedCohort,
  { count, nextInSeconds }: { count: number; nextInSeconds: number },
): Promise<void> {
  await tx.query(
    `UPDATE cohort SET count = $3, last_calculation = now(), errors_calculating = 0, fill_from = NULL,
            calculate_at = now() + make_interval(secs => $4)
      WHERE id = $1 AND version = $2`,
    [id, version, count, nextInSeconds],
  );
  await finishCalculation(tx, { id, calculation_id }, { count, error: null });
}

/** Each failure increases the delay before the next attempt. */
export async function saveFailure(
  tx: Transaction,
  { id, version, calculation_id }: ClaimedCohort,
  { error, firstDelaySeconds, maxDelaySeconds }: { error: string; firstDelaySeconds: number; maxDelaySeconds: number },
): Promise<void> {
  await tx.query(
    `UPDATE cohort SET errors_calculating = errors_calculating + 1,
            calculate_at = now() + make_interval(secs => least($3 * 2 ^ least(errors_calculating, 20), $4))
      WHERE id = $1 AND version = $2`,
    [id, version, firstDelaySeconds, maxDelaySeconds],
  );
  await finishCalculation(tx, { id, calculation_id }, { count: null, error });
}

/** Releases claims because the worker is stopping, and deletes the records of the attempt. */
export async function releaseClaims(tx: Transaction, claimed: ClaimedCohort[]): Promise<void> {
  await tx.query(
    `UPDATE cohort c SET calculate_at = date_trunc('milliseconds', now()) FROM unnest($1::int[], $2::int[]) AS claim (id, version)
      WHERE c.id = claim.id AND c.version = claim.version`,
    [claimed.map(({ id }) => id), claimed.map(({ version }) => version)],
  );
  await tx.query('DELETE FROM cohort_calculation WHERE id = ANY ($1::uuid[])', [
    claimed.map(({ calculation_id }) => calculation_id),
  ]);
}

async function finishCalculation(
  tx: Transaction,
  { id, calculation_id }: Pick<ClaimedCohort, 'id' | 'calculation_id'>,
  { count, error }: { count: number | null; error: string | null },
): Promise<void> {
  await tx.query(
    `UPDATE cohort_calculation SET finished_at = clock_timestamp(), count = $2, error = $3 WHERE id = $1::uuid`,
    [calculation_id, count, error],
  );
  await tx.query(
    `DELETE FROM cohort_calculation WHERE cohort_id = $1 AND id IN (
       SELECT id FROM cohort_calculation WHERE cohort_id = $1 ORDER BY started_at DESC, id DESC OFFSET $2)`,
    [id, keptCalculations],
  );
}
