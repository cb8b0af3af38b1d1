import type { Sql } from '@millrace/db';
import { type Finding, ok, warning } from '../finding.ts';
import { readConnections } from './postgres-store.ts';

const fullAt = 0.8;

/** There is room for one service more, as a rolling upgrade starts it. */
export async function checkConnections(sql: Sql): Promise<Finding[]> {
  return [judgeConnections(await readConnections(sql))];
}

export function judgeConnections({ used, most }: { used: number; most: number }): Finding {
  const found = `${used} of ${most} connections are in use`;
  if (used < fullAt * most) return ok(found);
  return warning(
    `${found}: a service that is started may get none`,
    'raise max_connections, lower DATABASE_POOL_SIZE and FLAG_DATABASE_CONNECTIONS, or put a pooler before it',
  );
}
