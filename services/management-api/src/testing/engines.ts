// The query engines for API tests: PostgreSQL, and ClickHouse with the same data.

import {
  connectClickHouse,
  copyEvents,
  copyPersonPortion,
  createClickHouseEngine,
  createEventStore,
  createTables,
} from '@millrace/insights';
import { startClickHouse } from '@millrace/testing';
import { startTestApi, type TestApi } from './start-test-api.ts';

export interface ApiOnEngine {
  api: TestApi;
  follow(): Promise<void>;
  stop(): Promise<void>;
}

export interface ApiEngine {
  name: string;
  open(): Promise<ApiOnEngine>;
}

const onPostgres: ApiEngine = {
  name: 'PostgreSQL',
  async open() {
    const api = await startTestApi();
    return { api, follow: async () => {}, stop: () => api.stop() };
  },
};

/** @param modules the folder in which `chdb` is installed */
export const onClickHouse = (modules: string): ApiEngine => ({
  name: 'ClickHouse',
  async open() {
    const clickhouse = await startClickHouse(modules);
    const client = connectClickHouse(clickhouse.url);
    const externalEventStore = { events: createEventStore(createClickHouseEngine(client)), maxMs: 15_000 };
    const api = await startTestApi({ externalEventStore });
    const postgres = { url: api.databaseUrl };
    await createTables(client, postgres);
    return {
      api,
      async follow() {
        await copyEvents(client, postgres, { from: new Date(0), until: new Date('2299-01-01Z') });
        while ((await copyPersonPortion({ database: api.database, client, postgres }))?.hasMore !== false);
      },
      async stop() {
        await api.stop();
        await client.close();
        await clickhouse.stop();
      },
    };
  },
});

/** Engines for this test run. The long tests replace the list, so that the same test files run on ClickHouse. */
export const engines: ApiEngine[] = [onPostgres];
