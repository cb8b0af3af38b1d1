import type { BenchDatabase } from '../topic/bench-project.ts';

/** Adds so many users to the database's organization, as plain members. */
export async function addMembers(database: BenchDatabase, count: number): Promise<void> {
  await database.query(
    `WITH added AS (
       INSERT INTO "user" (uuid, distinct_id, email, first_name)
       SELECT gen_random_uuid(), 'bench-' || gen_random_uuid(), gen_random_uuid() || '@bench.example', 'Member ' || number
         FROM generate_series(1, $2::int) AS number
       RETURNING id)
     INSERT INTO membership (id, organization_id, user_id, joined_at)
     SELECT gen_random_uuid(), $1, id, now() + row_number() OVER (ORDER BY id) * interval '1 millisecond' FROM added`,
    [database.organizationId, count],
  );
}
