import type { Sql } from '@millrace/db/sql';
import type { Stoppable } from '@millrace/runtime';

const everyMs = 500;

/**
 * Asks the database again and again until it has answered once. A gateway that was just started knows no definitions: were
 * it ready without the database, it would take the place of one that still knows them.
 */
export function awaitFirstAnswer(sql: Sql): Stoppable & { hasAnswered(): boolean } {
  let hasAnswered = false;
  let isStopped = false;
  let timer: NodeJS.Timeout | undefined;

  async function ask(): Promise<void> {
    try {
      await sql.query('SELECT 1');
      hasAnswered = true;
    } catch {
      if (!isStopped) timer = setTimeout(() => void ask(), everyMs);
    }
  }

  void ask();
  return {
    hasAnswered: () => hasAnswered,
    async stop() {
      isStopped = true;
      clearTimeout(timer);
    },
  };
}
