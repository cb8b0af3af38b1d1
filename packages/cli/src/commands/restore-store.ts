// SQL that prevents a restored database from using numbers a second time that were used after the backup.

import { projectChangeChannel } from '@millrace/contracts';
import type { Sql, Transaction } from '@millrace/db';

/** More IDs than could have been assigned since the backup. IDs have 31 bits, so there is room for many restores. */
const idStep = 100_000;
const versionStep = 1_000_000;

/**
 * Advances all counters of a restored database past values that may have been used since the backup: the log contains
 * records for environments created later, and gateways remember flag versions and fallback epochs. Reusing such a value
 * would give it a second meaning.
 * @returns the number of advanced sequences.
 */
export async function advanceSequences(tx: Transaction): Promise<number> {
  const sequences = await moveSequencesOn(tx, idStep);
  await moveFlagVersionsOn(tx, versionStep);
  await moveFallbackEpochsOn(tx, versionStep);
  await announceAnyChange(tx);
  return sequences;
}

/** True while PostgreSQL replays the write-ahead log and is therefore read-only. */
export async function isInRecovery(sql: Sql): Promise<boolean> {
  const [row] = await sql.query<{ is: boolean }>('SELECT pg_is_in_recovery() AS is');
  return row?.is === true;
}

/** Prevents IDs that were assigned after the backup from being assigned again. @returns the number of sequences. */
async function moveSequencesOn(tx: Transaction, step: number): Promise<number> {
  const moved = await tx.query(
    `SELECT setval(format('%I.%I', schemaname, sequencename)::regclass, coalesce(last_value, 0) + $1)
       FROM pg_sequences WHERE schemaname = current_schema()`,
    [step],
  );
  return moved.length;
}

/** Prevents a flag version that a gateway remembers from being reused with different definitions. */
async function moveFlagVersionsOn(tx: Transaction, step: number): Promise<void> {
  await tx.query(
    `INSERT INTO flag_definitions_version AS held (project_id, version) SELECT id, $1 FROM environment
     ON CONFLICT (project_id) DO UPDATE SET version = held.version + $1, changed_at = CURRENT_TIMESTAMP`,
    [step],
  );
}

/** Ensures that no gateway has already confirmed the next switch of the event log. */
async function moveFallbackEpochsOn(tx: Transaction, step: number): Promise<void> {
  await tx.query('UPDATE event_log_fallback SET epoch = epoch + $1', [step]);
}

/** Notifies gateways and consumers that everything they have cached may have changed. */
async function announceAnyChange(tx: Transaction): Promise<void> {
  await tx.query('SELECT pg_notify($1, $2)', [projectChangeChannel, '{}']);
}
