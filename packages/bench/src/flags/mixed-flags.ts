// Creates the projects and feature flags of the benchmark.

import { createHash, randomUUID } from 'node:crypto';
import { addProjects, type BenchDatabase, generateProjectKey } from '../harness/bench-database.ts';
import type { Client } from './flag-requests.ts';

export interface MixedFlag {
  key: string;
  filters: object;
}

const where = (key: string, operator: string, value: string | string[]) => ({ key, operator, value, type: 'person' });
const group = (rollout_percentage: number, ...properties: object[]) => ({
  properties,
  rollout_percentage,
  variant: null,
});
const filtersOf = (...groups: object[]) => ({ groups, multivariate: null, payloads: {} });
const withVariants = (filters: object, ...keys: string[]) => {
  const variants = keys.map((key) => ({ key, name: key, rollout_percentage: 100 / keys.length }));
  return { ...filters, multivariate: { variants } };
};

/** Typical flags, with rollouts, properties of each type, variants, and two conditions. */
const kinds: object[] = [
  filtersOf(group(50)),
  filtersOf(group(100, where('plan', 'exact', ['pro', 'enterprise']))),
  filtersOf(group(30, where('country', 'exact', ['DE', 'FR', 'US']))),
  filtersOf(group(100, where('age', 'gt', '30'))),
  filtersOf(group(80, where('email', 'icontains', '@example.com'))),
  filtersOf(group(100, where('app_version', 'semver_gt', '2.1.0'))),
  filtersOf(group(100, where('signed_up_at', 'is_date_after', '2025-01-01T00:00:00Z'))),
  withVariants(filtersOf(group(100)), 'control', 'test'),
  withVariants(
    filtersOf(
      group(10, where('plan', 'exact', ['free'])),
      group(60, where('country', 'exact', ['US']), where('plan', 'is_not', ['free'])),
    ),
    'red',
    'green',
    'blue',
    'grey',
  ),
  filtersOf(group(90, where('country', 'is_not', ['GB', 'IE']), where('age', 'lt', '60'))),
];

export function createMixedFlags(count: number): MixedFlag[] {
  return Array.from({ length: count }, (_, index) => ({
    key: `flag-${index}`,
    filters: kinds[index % kinds.length] ?? {},
  }));
}

export interface FlagEnvironment {
  environmentId: number;
  projectApiKey: string;
  secretKey: string;
}

/** Adds projects that all have the same flags. Must be called before a gateway reads the flags. */
export async function addFlagEnvironments(
  database: BenchDatabase,
  count: number,
  flags: readonly MixedFlag[],
): Promise<FlagEnvironment[]> {
  const keys = Array.from({ length: count }, generateProjectKey);
  const secretKeys = keys.map(() => `phs_bench_${randomUUID().replaceAll('-', '')}`);
  await addProjects(database, keys);
  const environments = await database.query<FlagEnvironment>(
    `SELECT id AS "environmentId", key AS "projectApiKey", secret AS "secretKey"
       FROM unnest($1::text[], $2::text[]) AS given (key, secret) JOIN environment ON api_token = key`,
    [keys, secretKeys],
  );
  const ids = environments.map(({ environmentId }) => environmentId);
  const hashes = environments.map(({ secretKey }) => createHash('sha256').update(secretKey).digest('hex'));
  await database.query(
    `INSERT INTO project_secret_key (project_id, slot, secure_value, mask_value)
     SELECT id, 'primary', hash, 'phs_...' FROM unnest($1::int[], $2::text[]) AS added (id, hash)`,
    [ids, hashes],
  );
  // Disable the trigger, which would increase the environment's version for each row.
  await database.query('ALTER TABLE feature_flag DISABLE TRIGGER feature_flag_added');
  await database.query(
    `INSERT INTO feature_flag (project_id, key, name, filters)
     SELECT id, key, 'Bench ' || key, filters::jsonb
       FROM unnest($1::int[]) AS id, unnest($2::text[], $3::text[]) AS flag (key, filters)`,
    [ids, flags.map(({ key }) => key), flags.map(({ filters }) => JSON.stringify(filters))],
  );
  await database.query(
    'INSERT INTO flag_definitions_version (project_id) SELECT unnest($1::int[]) ON CONFLICT DO NOTHING',
    [ids],
  );
  await database.query('ALTER TABLE feature_flag ENABLE TRIGGER feature_flag_added');
  return environments;
}

/** Stores persons as if events had created them. */
export async function addPersons(
  database: BenchDatabase,
  environmentId: number,
  persons: readonly Client[],
): Promise<void> {
  await database.query(
    `WITH added AS (
       INSERT INTO person (project_id, uuid, main_distinct_id, properties, created_at)
       SELECT $1::int, gen_random_uuid(), distinct_id, properties::jsonb, now()
         FROM unnest($2::text[], $3::text[]) AS person (distinct_id, properties)
       RETURNING uuid, main_distinct_id)
     INSERT INTO person_distinct_id (project_id, distinct_id, person_uuid)
     SELECT $1::int, main_distinct_id, uuid FROM added`,
    [environmentId, persons.map((one) => one.distinctId), persons.map(({ properties }) => JSON.stringify(properties))],
  );
  await database.query('ANALYZE');
}
