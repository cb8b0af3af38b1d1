import type { Sql } from '@millrace/db';
import { type Finding, listed, ok, warning } from '../finding.ts';
import { readOpenTransactions } from './postgres-store.ts';

/** Migrations wait for them, batch exports do, and nothing they might still see can be cleaned up. */
export async function checkOpenTransactions(sql: Sql, { longerThanSeconds = 300 } = {}): Promise<Finding[]> {
  const open = await readOpenTransactions(sql, longerThanSeconds);
  if (open.length === 0) return [ok(`none is open for longer than ${longerThanSeconds} s`)];
  const names = open.map(({ who, seconds }) => `${who} for ${seconds} s`);
  return [
    warning(
      `${open.length} open for longer than ${longerThanSeconds} s: ${listed(names, 3)}`,
      'end them: SELECT pg_terminate_backend(<process>), or ROLLBACK PREPARED; they hold up exports, migrations and cleaning',
    ),
  ];
}
