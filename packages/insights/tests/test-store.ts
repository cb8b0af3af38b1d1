import { createDatabase, createReadPool, type Database } from '@millrace/db';
import { createLogger } from '@millrace/runtime';
import { createTestDatabase, startClickHouse } from '@millrace/testing';
import { createClickHouseEngine } from '../src/event-store/clickhouse/engine.ts';
import { copyPersonPortion } from '../src/event-store/clickhouse/person-copy.ts';
import { copyEvents, createTables } from '../src/event-store/clickhouse/tables.ts';
import { connectClickHouse, createEventStore, createPostgresEngine, type EventStore } from '../src/index.ts';

export interface TestStore {
  url: string;
  database: Database;
  events: EventStore;
  /** Returns the number of running statements that contain a join. */
  runningJoins(): Promise<number>;
  stop(): Promise<void>;
}

/** An engine under test, with a separate store for each test file. */
export interface TestEngine {
  name: string;
  open(): Promise<TestStore>;
}

const onPostgres: TestEngine = {
  name: 'PostgreSQL',
  async open() {
    const { url, database, drop } = await openDatabase();
    const reader = createReadPool({ url, logger, poolSize: 2 });
    return {
      ...{ url, database },
      events: createEventStore(createPostgresEngine(reader)),
      async runningJoins() {
        const [row] = await database.sql.query<{ count: number }>(
          `SELECT count(*)::int AS count FROM pg_stat_activity
            WHERE datname = current_database() AND state = 'active' AND query LIKE '% JOIN %' AND pid <> pg_backend_pid()`,
        );
        return row?.count ?? 0;
      },
      async stop() {
        await reader.stop();
        await drop();
      },
    };
  },
};

/** Opens a store on ClickHouse. @param modules the folder in which `chdb` is installed */
export const onClickHouse = (modules: string): TestEngine => ({
  name: 'ClickHouse',
  async open() {
    const { url, database, drop } = await openDatabase();
    const server = await startClickHouse(modules);
    const client = connectClickHouse(server.url);
    await createTables(client, { url });
    const events = createEventStore(createClickHouseEngine(client));
    const known = new Map<number, number>();
    let hasPersons = false;
    let copiedAt = 0;
    /**
     * Copies changed persons. If the project has new events, also copies all events stored since shortly before the
     * last copy, or since the project's first event. Events that have already been copied are not copied again.
     */
    const follow = async (projectId: number) => {
      const changed = await database.sql.query('SELECT 1 FROM event_store_person_change LIMIT 1');
      if (!hasPersons || changed.length > 0)
        while ((await copyPersonPortion({ database, client, postgres: { url } }))?.hasMore !== false);
      hasPersons = true;
      const [row] = await database.sql.query<{ count: number; first: Date | null }>(
        'SELECT count(*)::int AS count, min(created_at) AS first FROM event WHERE project_id = $1',
        [projectId],
      );
      if (row?.count === known.get(projectId)) return;
      known.set(projectId, row?.count ?? 0);
      const from = new Date(Math.max(0, Math.min(copiedAt - 60_000, row?.first?.getTime() ?? copiedAt)));
      copiedAt = Date.now();
      await copyEvents(client, { url }, { from, until: new Date('2299-01-01Z') });
    };
    const projectOf = (query: { projectId?: number; select?: { projectId: number } }) =>
      query.projectId ?? query.select?.projectId ?? 0;
    return {
      ...{ url, database },
      events: {
        series: async (query, run) => follow(projectOf(query)).then(() => events.series(query, run)),
        funnelTotals: async (plan, run) =>
          follow(projectOf(plan.storeQuery)).then(() => events.funnelTotals(plan, run)),
        funnelActors: async (plan, page, run) =>
          follow(projectOf(plan.storeQuery)).then(() => events.funnelActors(plan, page, run)),
        funnel: async (query, run, each) => follow(projectOf(query)).then(() => events.funnel(query, run, each)),
        funnelPaths: async (query, run, each) =>
          follow(projectOf(query)).then(() => events.funnelPaths(query, run, each)),
        retention: async (query, run) => follow(projectOf(query)).then(() => events.retention(query, run)),
        lifecycle: async (query, run) => follow(projectOf(query)).then(() => events.lifecycle(query, run)),
        web: async (query, run) => follow(projectOf(query)).then(() => events.web(query, run)),
        actors: async (query, run) => follow(query.projectId).then(() => events.actors(query, run)),
        page: async (query, run) => follow(projectOf(query)).then(() => events.page(query, run)),
        list: async (query, run) => follow(projectOf(query)).then(() => events.list(query, run)),
        keys: async (query, run) => follow(projectOf(query)).then(() => events.keys(query, run)),
        sizes: async (query, run) => follow(projectOf(query)).then(() => events.sizes(query, run)),
        read: async (query, run) => follow(projectOf(query)).then(() => events.read(query, run)),
        latest: async (ids, run) => follow(ids.projectId).then(() => events.latest(ids, run)),
        values: async (query, run) => follow(projectOf(query)).then(() => events.values(query, run)),
        exposures: async (query, run) => follow(projectOf(query)).then(() => events.exposures(query, run)),
        rows: async (statement, run) => follow(statement.projectId).then(() => events.rows(statement, run)),
        earliest: async (names, run) => follow(projectOf(names)).then(() => events.earliest(names, run)),
      },
      async runningJoins() {
        const result = await client.query({
          query:
            "SELECT toInt32(count()) FROM system.processes WHERE query LIKE '% JOIN %' AND query NOT LIKE '%processes%'",
          format: 'JSONCompactEachRow',
        });
        const [[count] = [0]] = await result.json<[number]>();
        return count;
      },
      async stop() {
        await client.close();
        await server.stop();
        await drop();
      },
    };
  },
});

export const logger = createLogger('insights-test', 'error');

/** Opens a test database with a partition that accepts events with any time. */
async function openDatabase() {
  const own = await createTestDatabase();
  const database = createDatabase({ url: own.url, logger, poolSize: 4 });
  await database.sql.query(
    "CREATE TABLE event_any PARTITION OF event FOR VALUES FROM ('2015-01-01Z') TO ('2200-01-01Z')",
  );
  return {
    url: own.url,
    database,
    async drop() {
      await database.stop();
      await own.drop();
    },
  };
}

/** The engines under test. `clickhouse.long.test.ts` replaces them. */
export const engines: TestEngine[] = [onPostgres];

/** A budget larger than any test needs. */
export const ample = () => ({ signal: new AbortController().signal, maxMs: 60_000, maxBytes: 1e8 });
