import { createDatabase, type Database } from '@millrace/db';
import { createLogger } from '@millrace/runtime';
import { createTestDatabase, createTestTenant } from '@millrace/testing';

export interface FlagFixture {
  database: Database;
  databaseUrl: string;
  /** An environment of the test's own. */
  createEnvironment(): Promise<number>;
  addFlag(environmentId: number, key: string, columns?: Record<string, unknown>): Promise<number>;
  addCohort(environmentId: number, columns: Record<string, unknown>): Promise<number>;
  /** @param ids distinct ids, the first of which names the person */
  addPerson(environmentId: number, ids: string[], properties?: Record<string, unknown>): Promise<string>;
  stop(): Promise<void>;
}

/** A database of the test file's own, written to as the management API and the consumer do. */
export async function createFlagFixture(): Promise<FlagFixture> {
  const own = await createTestDatabase();
  const logger = createLogger('flag-store-test', 'error');
  const database = createDatabase({ url: own.url, logger, poolSize: 4 });
  const { sql } = database;

  async function insert(table: string, columns: Record<string, unknown>): Promise<number> {
    const names = Object.keys(columns);
    const values = names.map((name) => {
      const value = columns[name];
      return ['filters', 'groups'].includes(name) ? JSON.stringify(value) : value;
    });
    const [row] = await sql.query<{ id: number }>(
      `INSERT INTO ${table} (${names.map((name) => `"${name}"`).join(', ')})
       VALUES (${names.map((_, index) => `$${index + 1}`).join(', ')}) RETURNING id`,
      values,
    );
    return row?.id ?? 0;
  }

  return {
    database,
    databaseUrl: own.url,
    createEnvironment: async () => (await createTestTenant(database)).environmentId,
    addFlag: (environmentId, key, columns = {}) =>
      insert('feature_flag', { project_id: environmentId, key, filters: { groups: [{}] }, ...columns }),
    addCohort: (environmentId, columns) => insert('cohort', { project_id: environmentId, ...columns }),
    async addPerson(environmentId, ids, properties = {}) {
      const [row] = await sql.query<{ uuid: string }>(
        `INSERT INTO person (project_id, uuid, main_distinct_id, properties, created_at)
         VALUES ($1, gen_random_uuid(), $2, $3, now()) RETURNING uuid`,
        [environmentId, ids[0], JSON.stringify(properties)],
      );
      const uuid = row?.uuid ?? '';
      await sql.query(
        'INSERT INTO person_distinct_id (project_id, distinct_id, person_uuid) SELECT $1, id, $3 FROM unnest($2::text[]) id',
        [environmentId, ids, uuid],
      );
      return uuid;
    },
    async stop() {
      await database.stop();
      await own.drop();
    },
  };
}
