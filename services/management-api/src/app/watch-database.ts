// Monitors the database connection for the service's readiness check.

import type { Sql } from '@millrace/db';
import type { Stoppable } from '@millrace/runtime';

export interface DatabaseWatch extends Stoppable {
  isResponding(): boolean;
}

/**
 * Checks the database connection immediately and then every `intervalMs`, so that readiness is correct before the first
 * request and changes without requests. A check that takes longer than `patienceMs` counts as failed. Resolves after
 * the first check, even if it fails.
 */
export async function watchDatabase(
  sql: Sql,
  { intervalMs, patienceMs }: { intervalMs: number; patienceMs: number },
): Promise<DatabaseWatch> {
  let isResponding = false;
  let isChecking = false;

  async function check(): Promise<void> {
    // A hanging check occupies a connection. Further checks could exhaust the pool, so do not start them.
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
