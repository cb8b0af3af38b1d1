import { createHash, randomUUID } from 'node:crypto';
import type { FlagDefinition } from '@millrace/flags';
import { addProjects, type BenchDatabase } from '../topic/bench-project.ts';
import type { Asker } from './measure-questions.ts';

/** One condition on a property of the person, as both evaluators have it. */
export interface MixedFilter {
  key: string;
  operator: string;
  value: string | string[];
}

export interface MixedFlag {
  key: string;
  /** Any of them is enough. */
  conditions: { filters: MixedFilter[]; rolloutPercentage: number }[];
  /** Of equal weight. */
  variants: string[];
}

const single = (key: string, operator: string, value: string | string[]): MixedFilter => ({ key, operator, value });
const anyOf = (key: string, values: string[]) => single(key, 'exact', values);
const noneOf = (key: string, values: string[]) => single(key, 'is_not', values);
const all = (...filters: MixedFilter[]) => ({ filters, rolloutPercentage: 100 });
const some = (rolloutPercentage: number, ...filters: MixedFilter[]) => ({ filters, rolloutPercentage });
/** What projects ask: shares of all, properties of each type, variants, two conditions. */
const kinds: Omit<MixedFlag, 'key'>[] = [
  { conditions: [some(50)], variants: [] },
  { conditions: [all(anyOf('plan', ['pro', 'enterprise']))], variants: [] },
  { conditions: [some(30, anyOf('country', ['DE', 'FR', 'US']))], variants: [] },
  { conditions: [all(single('age', 'gt', '30'))], variants: [] },
  { conditions: [some(80, single('email', 'icontains', '@example.com'))], variants: [] },
  { conditions: [all(single('app_version', 'semver_gt', '2.1.0'))], variants: [] },
  { conditions: [all(single('signed_up_at', 'is_date_after', '2025-01-01T00:00:00Z'))], variants: [] },
  { conditions: [all()], variants: ['control', 'test'] },
  {
    conditions: [some(10, anyOf('plan', ['free'])), some(60, anyOf('country', ['US']), noneOf('plan', ['free']))],
    variants: ['red', 'green', 'blue', 'grey'],
  },
  { conditions: [some(90, noneOf('country', ['GB', 'IE']), single('age', 'lt', '60'))], variants: [] },
];

/** So many flags of all kinds in turn; their keys differ. */
export function mixedFlags(count: number): MixedFlag[] {
  return Array.from({ length: count }, (_, index) => ({
    key: `flag-${index}`,
    ...(kinds[index % kinds.length] ?? { conditions: [], variants: [] }),
  }));
}

/** As it is stored. */
export function flagFilters({ conditions, variants }: MixedFlag): object {
  const share = 100 / variants.length;
  return {
    groups: conditions.map(({ filters, rolloutPercentage }) => ({
      properties: filters.map(({ key, operator, value }) => ({ key, operator, value, type: 'person' })),
      rollout_percentage: rolloutPercentage,
      variant: null,
    })),
    multivariate:
      variants.length === 0
        ? null
        : { variants: variants.map((key) => ({ key, name: key, rollout_percentage: share })) },
    payloads: {},
  };
}

/** As an evaluation takes them. */
export function flagDefinitions(flags: readonly MixedFlag[]): FlagDefinition[] {
  return flags.map((flag, index) => ({
    id: index + 1,
    key: flag.key,
    version: 1,
    active: true,
    filters: flagFilters(flag),
  }));
}

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
  await database.query('ALTER TABLE feature_flag DISABLE TRIGGER feature_flag_added');
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
  await database.query('ALTER TABLE feature_flag ENABLE TRIGGER feature_flag_added');
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
