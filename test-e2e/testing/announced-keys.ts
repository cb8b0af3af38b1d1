import { type SqlDatabase, watchProjectChanges } from '@millrace/db/sql';
import { createLogger, createMetrics } from '@millrace/runtime';
import { eventually } from './eventually.ts';

/** Collects the project API keys whose changes PostgreSQL announces to gateways. */
export async function collectAnnouncedKeys(database: Pick<SqlDatabase, 'listen'>): Promise<{
  keys: string[];
  stop(): Promise<void>;
}> {
  const metrics = createMetrics({ withProcessMetrics: false });
  const changes = watchProjectChanges({ database, logger: createLogger('testing', 'warn'), metrics });
  const keys: string[] = [];
  changes.subscribe((change) => void keys.push(...(change?.tokens ?? [])));
  await eventually(() => changes.isSubscribed(), { what: 'hearing of changes' });
  return { keys, stop: changes.stop };
}
