import type { Transaction } from '@millrace/db';

/**
 * Waits for everybody else who changes records of an environment that rest on each other (flags and cohorts; insights and
 * dashboards): two changes that each are right alone, and together are not, do not both pass. It is the first lock taken.
 */
export async function lockEnvironment(tx: Transaction, environmentId: number): Promise<void> {
  await tx.query('SELECT 1 FROM environment WHERE id = $1 FOR NO KEY UPDATE', [environmentId]);
}
