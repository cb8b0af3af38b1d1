import type { Transaction } from '@millrace/db';

/**
 * Locks an environment for changes to records that depend on each other (flags and cohorts, or insights and
 * dashboards). Without the lock, two concurrent changes could each be valid but contradict each other. The transaction
 * must not hold any lock before this one.
 */
export async function lockEnvironment(tx: Transaction, environmentId: number): Promise<void> {
  await tx.query('SELECT 1 FROM environment WHERE id = $1 FOR NO KEY UPDATE', [environmentId]);
}
