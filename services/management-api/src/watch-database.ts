import type { Sql } from '@millrace/db';
import type { Stoppable } from '@millrace/runtime';

/**
 * Asks the database for a sign of life now and every `intervalMs`, so that readiness is true before the first request
 * and recovers without one. Resolves after the first try, whatever its outcome.
 */
export async function watchDatabase(sql: Sql, intervalMs: number): Promise<Stoppable> {
  // The database itself remembers how it went (`isHealthy`).
  const probe = () =>
    sql.query('SELECT 1').then(
      () => {},
      () => {},
    );
  let running = probe();
  const timer = setInterval(() => {
    running = running.then(probe);
  }, intervalMs);
  await running;
  return {
    async stop() {
      clearInterval(timer);
      await running;
    },
  };
}
