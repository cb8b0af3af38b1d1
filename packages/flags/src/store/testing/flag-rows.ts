import type { Sql } from '@millrace/db/sql';

/** Inserts rows in the same format as the management API and the consumer. */
export interface FlagRows {
  addFlag(environmentId: number, key: string, columns?: Record<string, unknown>): Promise<number>;
  addCohort(environmentId: number, columns: Record<string, unknown>): Promise<number>;
  /** Adds a person. @param ids the distinct IDs, starting with the main one */
  addPerson(environmentId: number, ids: string[], properties?: Record<string, unknown>): Promise<string>;
}

export function createFlagRows(sql: Sql): FlagRows {
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
  };
}
