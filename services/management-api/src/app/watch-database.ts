import type { Sql } from '@millrace/db';
import type { Stoppable } from '@millrace/runtime';

export interface DatabaseWatch extends Stoppable {
  /** How the last question ended. */
  isAnswering(): boolean;
}

/**
 * Asks the database for a sign of life now and every `intervalMs`, so that readiness is right before the first request
 * and recovers without one. No answer within `patienceMs` counts as none. Resolves after the first try, whatever its outcome.
 */
export async function watchDatabase(
  sql: Sql,
  { intervalMs, patienceMs }: { intervalMs: number; patienceMs: number },
): Promise<DatabaseWatch> {
  let isAnswering = false;
  let isAsking = false;

  async function ask(): Promise<void> {
    // A question that hangs holds one connection; more of them would use up the pool.
    if (isAsking) return;
    isAsking = true;
    const timer = setTimeout(() => {
      isAnswering = false;
    }, patienceMs);
    try {
      await sql.query('SELECT 1');
      isAnswering = true;
    } catch {
      isAnswering = false;
    } finally {
      clearTimeout(timer);
      isAsking = false;
    }
  }

  const interval = setInterval(() => void ask(), intervalMs);
  await Promise.race([ask(), new Promise((resolve) => setTimeout(resolve, patienceMs))]);
  return {
    isAnswering: () => isAnswering,
    async stop() {
      clearInterval(interval);
    },
  };
}
