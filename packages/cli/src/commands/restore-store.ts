// SQL that prevents a restored database from reusing IDs and versions that were assigned after the backup.

import { projectChangeChannel } from '@millrace/contracts';
import type { Sql, Transaction } from '@millrace/db';

/**
 * How far to advance an ID sequence. The number is larger than the number of IDs that can have been assigned since the
 * backup. IDs have 31 bits, so a database can be restored many times before it runs out of IDs.
 */
const idStep = 100_000;
const versionStep = 1_000_000;

/**
 * Advances all counters of a restored database beyond the numbers that may have been assigned since the backup. Without
 * this, the database could reuse an environment ID that is in the event log, or a flag version or fallback epoch that
 * gateways have cached.
 * @returns the number of sequences that were advanced
 */
export async function advanceSequences(tx: Transaction): Promise<number> {
  const sequences = await moveSequencesOn(tx, idStep);
  await moveFlagVersionsOn(tx, versionStep);
  await moveFallbackEpochsOn(tx, versionStep);
  await announceAnyChange(tx);
  return sequences;
}

/** Returns true while PostgreSQL is replaying the write-ahead log. During this time, the database is read-only. */
export async function isInRecovery(sql: Sql): Promise<boolean> {
  const [row] = await sql.query<{ is: boolean }>('SELECT pg_is_in_recovery() AS is');
  return row?.is === true;
}

/**
 * Prevents the database from assigning IDs that were already assigned after the backup.
 * @returns the number of sequences
 */
async function moveSequencesOn(tx: Transaction, step: number): Promise<number> {
  const moved = await tx.query(
    `SELECT setval(format('%I.%I', schemaname, sequencename)::regclass, coalesce(last_value, 0) + $1)
       FROM pg_sequences WHERE schemaname = current_schema()`,
    [step],
  );
  return moved.length;
}

/** Ensures that new flag definitions do not reuse a version for which a gateway has cached different definitions. */
async function moveFlagVersionsOn(tx: Transaction, step: number): Promise<void> {
  await tx.query(
    `INSERT INTO flag_definitions_version AS held (project_id, version) SELECT id, $1 FROM environment
     ON CONFLICT (project_id) DO UPDATE SET version = held.version + $1, changed_at = CURRENT_TIMESTAMP`,
    [step],
  );
}

/** Ensures that the next switch between event logs uses an epoch that no gateway has confirmed yet. */
async function moveFallbackEpochsOn(tx: Transaction, step: number): Promise<void> {
  await tx.query('UPDATE event_log_fallback SET epoch = epoch + $1', [step]);
}

/** Notifies gateways and consumers that any of their cached data may be outdated. */
async function announceAnyChange(tx: Transaction): Promise<void> {
  await tx.query('SELECT pg_notify($1, $2)', [projectChangeChannel, '{}']);
}
