import { createDatabase, type Database } from '@millrace/db';
import { createLogger } from '@millrace/runtime';
import { createTestDatabase, createTestTenant } from '@millrace/testing';
import { createFlagRows, type FlagRows } from './flag-rows.ts';

export interface FlagFixture extends FlagRows {
  database: Database;
  createEnvironment(): Promise<number>;
  stop(): Promise<void>;
}

export async function createFlagFixture(): Promise<FlagFixture> {
  const own = await createTestDatabase();
  const logger = createLogger('flag-store-test', 'error');
  const database = createDatabase({ url: own.url, logger, poolSize: 4 });
  return {
    ...createFlagRows(database.sql),
    database,
    createEnvironment: async () => (await createTestTenant(database)).environmentId,
    async stop() {
      await database.stop();
      await own.drop();
    },
  };
}
