import { createDatabase, createReader, type Database } from '@millrace/db';
import { createLogger } from '@millrace/runtime';
import { createTestDatabase } from '@millrace/testing';
import { createEventStore, type EventStore, postgresEngine } from '../src/index.ts';

export interface TestStore {
  database: Database;
  events: EventStore;
  stop(): Promise<void>;
}

export type Engine = 'PostgreSQL';

/** The engines that have to give the same answers. */
export const engines: readonly Engine[] = ['PostgreSQL'];

/** An event store of the test file's own, with room for events of any time. */
export async function openTestStore(_engine: Engine): Promise<TestStore> {
  const own = await createTestDatabase();
  const logger = createLogger('insights-test', 'error');
  const database = createDatabase({ url: own.url, logger, poolSize: 4 });
  const reader = createReader({ url: own.url, logger, poolSize: 2 });
  await database.sql.query(
    "CREATE TABLE event_any PARTITION OF event FOR VALUES FROM ('2015-01-01Z') TO ('2200-01-01Z')",
  );
  return {
    database,
    events: createEventStore(postgresEngine(reader)),
    async stop() {
      await reader.stop();
      await database.stop();
      await own.drop();
    },
  };
}

/** More than any test needs. */
export const ample = () => ({ signal: new AbortController().signal, maxMs: 60_000, maxBytes: 1e8 });
