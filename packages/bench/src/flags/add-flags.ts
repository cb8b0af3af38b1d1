import { createHash, randomUUID } from 'node:crypto';
import { addProjects } from '../topic/add-projects.ts';
import type { BenchDatabase } from '../topic/bench-project.ts';
import type { Asker } from './askers.ts';
import { flagFilters, type MixedFlag } from './mixed-flags.ts';

/** An environment with flags, and what is asked with. */
export interface FlagEnvironment {
  environmentId: number;
  projectApiKey: string;
  /** For its definitions. */
  secretKey: string;
}

/** Adds so many projects, each with the same flags, before any gateway has asked for them. */
export async function addFlagEnvironments(
  database: BenchDatabase,
  count: number,
  flags: readonly MixedFlag[],
): Promise<FlagEnvironment[]> {
  const added = Array.from({ length: count }, () => ({
    projectApiKey: `phc_bench_${randomUUID().replaceAll('-', '')}`,
    secretKey: `phs_bench_${randomUUID().replaceAll('-', '')}`,
  }));
  const keys = added.map(({ projectApiKey }) => projectApiKey);
  await addProjects(database, keys);
  const rows = await database.query<{ id: number; token: string }>(
    'SELECT id, api_token AS token FROM environment WHERE api_token = ANY ($1)',
    [keys],
  );
  const idOf = new Map(rows.map(({ id, token }) => [token, id]));
  const environments = added.map((keysOfOne) => ({
    ...keysOfOne,
    environmentId: idOf.get(keysOfOne.projectApiKey) ?? 0,
  }));
  await addSecretKeys(database, environments);
  await addFlags(
    database,
    environments.map(({ environmentId }) => environmentId),
    flags,
  );
  return environments;
}

/** The rows, and once for each environment the version that triggers would raise with each of them. */
async function addFlags(
  database: BenchDatabase,
  environmentIds: readonly number[],
  flags: readonly MixedFlag[],
): Promise<void> {
  await database.query('ALTER TABLE feature_flag DISABLE TRIGGER feature_flag_added_or_removed');
  await database.query(
    `INSERT INTO feature_flag (project_id, key, name, filters)
     SELECT environment_id, key, 'Bench ' || key, filters::jsonb
       FROM unnest($1::int[]) AS environment_id, unnest($2::text[], $3::text[]) AS flag (key, filters)`,
    [environmentIds, flags.map(({ key }) => key), flags.map((flag) => JSON.stringify(flagFilters(flag)))],
  );
  await database.query(
    'INSERT INTO flag_definitions_version (project_id) SELECT unnest($1::int[]) ON CONFLICT DO NOTHING',
    [environmentIds],
  );
  await database.query('ALTER TABLE feature_flag ENABLE TRIGGER feature_flag_added_or_removed');
}

async function addSecretKeys(database: BenchDatabase, environments: readonly FlagEnvironment[]): Promise<void> {
  await database.query(
    `INSERT INTO project_secret_key (project_id, slot, secure_value, mask_value)
     SELECT environment_id, 'primary', secure_value, 'phs_...'
       FROM unnest($1::int[], $2::text[]) AS added (environment_id, secure_value)`,
    [
      environments.map(({ environmentId }) => environmentId),
      environments.map(({ secretKey }) => createHash('sha256').update(secretKey).digest('hex')),
    ],
  );
}

/** Stores what is known of somebody, as it is after events of theirs. */
export async function addPersons(
  database: BenchDatabase,
  environmentId: number,
  persons: readonly Asker[],
): Promise<void> {
  await database.query(
    `WITH added AS (
       INSERT INTO person (project_id, uuid, main_distinct_id, properties, created_at)
       SELECT $1::int, gen_random_uuid(), distinct_id, properties::jsonb, now()
         FROM unnest($2::text[], $3::text[]) AS person (distinct_id, properties)
       RETURNING uuid, main_distinct_id)
     INSERT INTO person_distinct_id (project_id, distinct_id, person_uuid)
     SELECT $1::int, main_distinct_id, uuid FROM added`,
    [
      environmentId,
      persons.map(({ distinctId }) => distinctId),
      persons.map(({ properties }) => JSON.stringify(properties)),
    ],
  );
  await database.query('ANALYZE');
}
