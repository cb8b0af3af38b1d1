import { projectChangeChannel } from '@millrace/contracts';
import type { Sql, Transaction } from '@millrace/db';

/** More than anybody has made since the moment that was restored. Ids have 31 bits: there is room for many restores. */
const idStep = 100_000;
const versionStep = 1_000_000;

/**
 * Others have seen counters of a restored database further than they are now: records in the log name environments made since,
 * gateways remember versions of flags, and what they have confirmed. None of these numbers may come to mean something else.
 * @returns how many sequences were moved.
 */
export async function moveCountersOn(tx: Transaction): Promise<number> {
  const sequences = await moveSequencesOn(tx, idStep);
  await moveFlagVersionsOn(tx, versionStep);
  await moveFallbackEpochsOn(tx, versionStep);
  await announceAnyChange(tx);
  return sequences;
}

/** True while the write-ahead log is still replayed: nothing can be written. */
export async function isInRecovery(sql: Sql): Promise<boolean> {
  const [row] = await sql.query<{ is: boolean }>('SELECT pg_is_in_recovery() AS is');
  return row?.is === true;
}

/** No id that was given since the moment that was restored is given once more. @returns how many sequences there are. */
async function moveSequencesOn(tx: Transaction, step: number): Promise<number> {
  const moved = await tx.query(
    `SELECT setval(format('%I.%I', schemaname, sequencename)::regclass, coalesce(last_value, 0) + $1)
       FROM pg_sequences WHERE schemaname = current_schema()`,
    [step],
  );
  return moved.length;
}

/** No version of flags that a gateway may remember comes again with another content. */
async function moveFlagVersionsOn(tx: Transaction, step: number): Promise<void> {
  await tx.query(
    `INSERT INTO flag_definitions_version AS held (project_id, version) SELECT id, $1 FROM environment
     ON CONFLICT (project_id) DO UPDATE SET version = held.version + $1, changed_at = CURRENT_TIMESTAMP`,
    [step],
  );
}

/** No gateway has confirmed the next change of the log to append to before it was announced. */
async function moveFallbackEpochsOn(tx: Transaction, step: number): Promise<void> {
  await tx.query('UPDATE event_log_fallback SET epoch = epoch + $1', [step]);
}

/** Tells gateways and consumers that anything they remember may have changed. */
async function announceAnyChange(tx: Transaction): Promise<void> {
  await tx.query('SELECT pg_notify($1, $2)', [projectChangeChannel, '{}']);
}
