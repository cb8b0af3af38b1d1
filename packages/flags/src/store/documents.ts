import { createHash } from 'node:crypto';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { namedCohort } from '../filters/named-cohort.ts';
import { findDefinitionsVersion } from './definition-store.ts';
import {
  type DefinitionMemoryOptions,
  loadDefinitions,
  type StoredDefinitions,
  type StoredFlag,
} from './definitions.ts';
import { createVersionedMemory, type VersionedMemory } from './versioned-memory.ts';

/** The document of local evaluation, ready to be sent. */
export interface FlagDocument {
  /** The same for the same text, whichever process made it; without quotes. */
  etag: string;
  gzipped: Buffer;
}

/** The documents of environments, from memory: written, hashed and compressed once per version. */
export function createFlagDocuments(options: DefinitionMemoryOptions): VersionedMemory<FlagDocument> {
  const { sql } = options;
  return createVersionedMemory({
    ...options,
    async load(environmentId) {
      const definitions = await loadDefinitions(sql, environmentId);
      // An empty document would make every SDK forget its flags.
      if (definitions === null) throw new Error('The environment does not exist.');
      const value = await makeDocument(JSON.stringify(localEvaluationDocument(definitions)));
      return { version: definitions.version, value, bytes: value.gzipped.length + bytesBeside };
    },
    findVersion: (environmentId) => findDefinitionsVersion(sql, environmentId),
  });
}

const bytesBeside = 512;
const compress = promisify(gzip);

async function makeDocument(text: string): Promise<FlagDocument> {
  return {
    etag: createHash('sha256').update(text).digest('base64url').slice(0, 32),
    gzipped: await compress(text),
  };
}

/** Flags that surveys make for themselves. */
const surveyPrefix = 'survey-targeting-';

/**
 * What an SDK needs to evaluate an environment's flags by itself: flags that are not deleted, inactive ones included, each
 * dependency named by key with the chain of what it rests on; dynamic cohorts that are asked about, with those they are
 * made of. Static cohorts are left out, so that SDKs ask. In a fixed order: the same definitions are the same text.
 */
export function localEvaluationDocument(definitions: StoredDefinitions) {
  const flags = definitions.flags.filter((flag) => !flag.has_encrypted_payloads && !flag.key.startsWith(surveyPrefix));
  const targetOf = createDependencyChains(flags);
  return {
    flags: flags.map((flag) => flagInDocument(flag, definitions.environmentId, filtersForSdks(flag, targetOf))),
    group_type_mapping: definitions.groupTypes,
    cohorts: cohortsInDocument(flags, definitions),
    minimal_flag_called_events: false,
    property_matching_version: definitions.matchingVersion,
  };
}

function flagInDocument(flag: StoredFlag, environmentId: number, filters: object) {
  return {
    id: flag.id,
    team_id: environmentId,
    name: flag.name,
    key: flag.key,
    filters,
    deleted: false,
    active: flag.active,
    ensure_experience_continuity: flag.ensure_experience_continuity ?? false,
    has_encrypted_payloads: false,
    version: flag.version,
    evaluation_runtime: flag.evaluation_runtime ?? 'all',
    bucketing_identifier: flag.bucketing_identifier ?? 'distinct_id',
    evaluation_contexts: flag.evaluation_contexts,
    evaluation_tags: flag.evaluation_contexts,
    has_experiment: false,
  };
}

function cohortsInDocument(flags: readonly StoredFlag[], { cohorts }: StoredDefinitions): Record<string, unknown> {
  const byId = new Map(cohorts.map((cohort) => [cohort.id, cohort]));
  const wanted = new Set(flags.flatMap(({ filters }) => cohortIdsIn(filters)));
  // Walking a set also reaches what is added meanwhile.
  for (const id of wanted) for (const inner of cohortIdsIn(byId.get(id)?.tree)) wanted.add(inner);
  const dynamic = [...wanted]
    .sort((a, b) => a - b)
    .flatMap((id) => byId.get(id) ?? [])
    .filter((c) => !c.isStatic);
  return Object.fromEntries(dynamic.map(({ id, tree }) => [String(id), tree ?? {}]));
}

type Fields = Record<string, unknown>;

/** A flag's filters as SDKs know them: conditions in `groups`, dependencies by key. */
function filtersForSdks(
  { filters, rollout_percentage }: StoredFlag,
  targetOf: (id: string) => DependencyTarget | undefined,
): Fields {
  const stored = (filters ?? {}) as Fields;
  // Flags of old had one list of filters and a rollout in a column of its own.
  const groups = Object.hasOwn(stored, 'groups')
    ? stored.groups
    : [{ properties: stored.properties ?? [], rollout_percentage }];
  return { ...stored, groups: mapList(groups, (group) => withKeys(group, targetOf)) };
}

function withKeys(group: Fields, targetOf: (id: string) => DependencyTarget | undefined): Fields {
  if (!Array.isArray(group.properties)) return group;
  const properties = mapList(group.properties, (filter) => {
    if (filter.type !== 'flag') return filter;
    const target = targetOf(String(filter.key));
    return { ...filter, key: target?.key ?? filter.key, dependency_chain: target?.chain ?? [] };
  });
  return { ...group, properties };
}

/** What is no list of objects is left as it is. */
function mapList(list: unknown, change: (member: Fields) => Fields): unknown {
  if (!Array.isArray(list)) return list;
  return list.map((member: unknown) =>
    typeof member === 'object' && member !== null ? change(member as Fields) : member,
  );
}

/** Longer chains are left to the server: written out for each flag, they would grow with the square of their length. */
const longestChain = 100;

/** A flag that another one asks about. */
interface DependencyTarget {
  key: string;
  /** Keys in the order of evaluation, the target last; empty where SDKs have to ask the server. */
  chain: string[];
}

interface Flag {
  id: number;
  key: string;
  filters: unknown;
}

/** Finds the target of a dependency by its id; undefined when there is none. */
function createDependencyChains(flags: readonly Flag[]): (targetId: string) => DependencyTarget | undefined {
  const byId = new Map(flags.map((flag) => [String(flag.id), flag]));
  const targets = new Map<string, DependencyTarget>();
  return (targetId) => {
    const flag = byId.get(targetId);
    if (flag === undefined) return undefined;
    const known = targets.get(targetId) ?? { key: flag.key, chain: chainOf(flag, byId) };
    targets.set(targetId, known);
    return known;
  };
}

/** Empty for a circle, a flag that is not there, and what is too long. */
function chainOf(target: Flag, byId: ReadonlyMap<string, Flag>): string[] {
  const chain: string[] = [];
  const visited = new Map<string, 'open' | 'done'>();
  return visit(target) ? chain : [];

  function visit(flag: Flag): boolean {
    const id = String(flag.id);
    if (visited.get(id) === 'done') return true;
    if (visited.has(id) || visited.size >= longestChain) return false;
    visited.set(id, 'open');
    for (const targetId of dependenciesOf(flag)) {
      const next = byId.get(targetId);
      if (next === undefined || !visit(next)) return false;
    }
    visited.set(id, 'done');
    chain.push(flag.key);
    return true;
  }
}

function dependenciesOf({ filters }: Flag): string[] {
  return filtersIn(filters).flatMap(({ type, key }) => (type === 'flag' ? [String(key)] : []));
}

/** All filters of a flag or of a cohort's tree, however deep: whatever in it is an object with a `type`. */
function filtersIn(stored: unknown): Fields[] {
  const found: Fields[] = [];
  const left = [stored];
  while (left.length > 0) {
    const value = left.pop();
    if (typeof value !== 'object' || value === null) continue;
    if (!Array.isArray(value) && typeof (value as Fields).type === 'string') found.push(value as Fields);
    left.push(...Object.values(value));
  }
  return found;
}

/** Ids of the cohorts that filters ask about. */
function cohortIdsIn(stored: unknown): number[] {
  return filtersIn(stored).flatMap((filter) => namedCohort(filter) ?? []);
}
