// Watches the database connection, so that the readiness check of this service is correct.

import type { Sql } from '@millrace/db';
import type { Stoppable } from '@millrace/runtime';

export interface DatabaseWatch extends Stoppable {
  /** Returns the result of the last check. */
  isResponding(): boolean;
}

/**
 * Checks the database connection now and then every `intervalMs`, so that readiness is right before the first request
 * and changes without one. No response within `patienceMs` counts as a failure. Resolves after the first check,
 * whatever its result.
 */
export async function watchDatabase(
  sql: Sql,
  { intervalMs, patienceMs }: { intervalMs: number; patienceMs: number },
): Promise<DatabaseWatch> {
  let isResponding = false;
  let isChecking = false;

  async function check(): Promise<void> {
    // A check that hangs occupies a connection. Do not start another one, because that could exhaust the pool.
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
