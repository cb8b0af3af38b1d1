// Monitors the database connection for the service's readiness check.

import type { Sql } from '@millrace/db';
import type { Stoppable } from '@millrace/runtime';

export interface DatabaseWatch extends Stoppable {
  /** Returns true if the last check succeeded. */
  isResponding(): boolean;
}

/**
 * Checks the database connection immediately and then every `intervalMs`, so that readiness is correct before the first
 * request and changes without requests. A check without a response within `patienceMs` counts as failed. Resolves after
 * the first check, whether or not it succeeds.
 */
export async function watchDatabase(
  sql: Sql,
  { intervalMs, patienceMs }: { intervalMs: number; patienceMs: number },
): Promise<DatabaseWatch> {
  let isResponding = false;
  let isChecking = false;

  async function check(): Promise<void> {
    // A hanging check occupies a connection, so do not start another check that could exhaust the pool.
    if (isChecking) return;
    isChecking = true;
    const timer = setTimeout(() => {
      isResponding = false;
    }, patienceMs);
    try {
      await sql.query('SELECT 1');
      isResponding = true;
    } catch {
      isResponding = false;
    } finally {
      clearTimeout(timer);
      isChecking = false;
    }
  }

  const interval = setInterval(() => void check(), intervalMs);
  await Promise.race([check(), new Promise((resolve) => setTimeout(resolve, patienceMs))]);
  return {
    isResponding: () => isResponding,
    async stop() {
      clearInterval(interval);
    },
  };
}
