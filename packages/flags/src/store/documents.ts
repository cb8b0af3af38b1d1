// Builds the document from which SDKs evaluate flags locally.

import { createHash } from 'node:crypto';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { readCohortFilterId } from '../filters/named-cohort.ts';
import { findDefinitionsVersion } from './definition-store.ts';
import {
  type DefinitionCacheOptions,
  loadDefinitions,
  type StoredDefinitions,
  type StoredFlag,
} from './definitions.ts';
import { createVersionedCache, type VersionedCache } from './versioned-memory.ts';

export interface FlagDocument {
  /** The ETag without quotes. Equal documents have the same ETag in all processes. */
  etag: string;
  gzipped: Buffer;
}

/**
 * Creates a cache with one document per environment. Each version of a document is serialized, hashed and compressed
 * only once.
 */
export function createFlagDocumentCache(options: DefinitionCacheOptions): VersionedCache<FlagDocument> {
  const { sql } = options;
  return createVersionedCache({
    ...options,
    async load(environmentId) {
      const definitions = await loadDefinitions(sql, environmentId);
      // Throw an error, because SDKs drop all their flags when they receive an empty document.
      if (definitions === null) throw new Error('The environment does not exist.');
      const value = await makeDocument(JSON.stringify(buildLocalEvaluationDocument(definitions)));
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

/** Key prefix of flags that surveys create. */
const surveyPrefix = 'survey-targeting-';

/**
 * Builds the document for local evaluation. It contains all flags except deleted ones, with the key and the evaluation
 * chain of each dependency. It also contains the dynamic cohorts that flags use, and the cohorts to which these refer.
 * Static cohorts are omitted, so that SDKs query the server for flags that use them. The order is fixed, so that equal
 * definitions result in equal documents.
 */
export function buildLocalEvaluationDocument(definitions: StoredDefinitions) {
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
  // The loop also visits cohorts that it adds to the set.
  for (const id of wanted) for (const inner of cohortIdsIn(byId.get(id)?.tree)) wanted.add(inner);
  const dynamic = [...wanted]
    .sort((a, b) => a - b)
    .flatMap((id) => byId.get(id) ?? [])
    .filter((c) => !c.isStatic);
  return Object.fromEntries(dynamic.map(({ id, tree }) => [String(id), tree ?? {}]));
}

type Fields = Record<string, unknown>;

/** Converts a flag's filters to the SDK format: conditions in `groups`, and dependencies by key. */
function filtersForSdks(
  { filters, rollout_percentage }: StoredFlag,
  targetOf: (id: string) => DependencyTarget | undefined,
): Fields {
  const stored = (filters ?? {}) as Fields;
  // Older flags have a single list of filters, and a separate column for the rollout.
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

/** Maps the objects in a list. If the value is not a list, returns it unchanged. */
function mapList(list: unknown, change: (member: Fields) => Fields): unknown {
  if (!Array.isArray(list)) return list;
  return list.map((member: unknown) =>
    typeof member === 'object' && member !== null ? change(member as Fields) : member,
  );
}

/**
 * Maximum length of a chain. SDKs query the server for flags with longer chains. The document repeats a chain for each
 * flag in it, so without a limit its size would grow quadratically.
 */
const longestChain = 100;

interface DependencyTarget {
  key: string;
  /** Keys in evaluation order, with the target last. Empty if SDKs must query the server. */
  chain: string[];
}

interface Flag {
  id: number;
  key: string;
  filters: unknown;
}

/** Creates a function that returns a dependency's target by ID, or undefined for an unknown ID. */
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

/** Returns a flag's evaluation chain. It is empty if a flag is missing, or if the chain is a cycle or too long. */
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

/** Finds all filters in a flag or cohort tree, at any depth. Every object with a `type` is a filter. */
function filtersIn(stored: unknown): Fields[] {
  const found: Fields[] = [];
  const pending = [stored];
  while (pending.length > 0) {
    const value = pending.pop();
    if (typeof value !== 'object' || value === null) continue;
    if (!Array.isArray(value) && typeof (value as Fields).type === 'string') found.push(value as Fields);
    pending.push(...Object.values(value));
  }
  return found;
}

function cohortIdsIn(stored: unknown): number[] {
  return filtersIn(stored).flatMap((filter) => readCohortFilterId(filter) ?? []);
}
