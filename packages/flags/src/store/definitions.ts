// Loads environments' flag definitions, compiles them and keeps them in memory.

import { isObject, redactedPayload } from '@millrace/contracts';
import type { Sql } from '@millrace/db/sql';
import { compileFlagsInSteps } from '../compile/compile-flags.ts';
import type { CompiledFlags } from '../compile/compiled.ts';
import type { FlagDefinition, ProjectDefinitions } from '../definitions.ts';
import { runInTimeSlices, type Steps } from '../steps.ts';
import { type DefinitionRow, findDefinitionRows, findDefinitionsVersion } from './definition-store.ts';
import { createVersionedCache, type VersionedCache, type VersionedCacheOptions } from './versioned-memory.ts';

export interface DefinitionCacheOptions
  extends Pick<VersionedCacheOptions<unknown>, 'changes' | 'maxBytes' | 'onLookup'> {
  sql: Sql;
}

export function createFlagDefinitionCache(options: DefinitionCacheOptions): VersionedCache<CompiledFlags> {
  const { sql } = options;
  return createVersionedCache({
    ...options,
    async load(environmentId) {
      const definitions = (await loadDefinitions(sql, environmentId)) ?? noDefinitions(environmentId);
      const value = await compileDefinitions(definitions);
      return { version: definitions.version, value, bytes: bytesOf(definitions) };
    },
    findVersion: (environmentId) => findDefinitionsVersion(sql, environmentId),
  });
}

/** Compiles definitions for evaluation. If there are many definitions, lets other work run in between. */
export async function compileDefinitions(definitions: StoredDefinitions): Promise<CompiledFlags> {
  const flags = definitions.flags.map((flag) => (flag.has_encrypted_payloads ? withRedactedPayloads(flag) : flag));
  return runInTimeSlices(compileFlagsInSteps({ ...definitions, flags }));
}

/** Redacts payloads that only a secret key can read, because anyone can request an evaluation and see its result. */
function withRedactedPayloads<Flag extends { filters: unknown }>(flag: Flag): Flag {
  const filters = isObject(flag.filters) ? flag.filters : {};
  const keys = Object.keys(isObject(filters.payloads) ? filters.payloads : {});
  return { ...flag, filters: { ...filters, payloads: Object.fromEntries(keys.map((key) => [key, redactedPayload])) } };
}

function noDefinitions(environmentId: number): StoredDefinitions {
  const none = { flags: [], cohorts: [], groupTypes: {}, timeZone: 'UTC', textLength: 0, patterns: 0 };
  return { ...none, environmentId, version: '0', matchingVersion: 1 };
}

/** Measured heap memory of compiled definitions, per character of stored JSON and per pattern after its first use. */
const bytesPerCharacter = 3;
const bytesPerPattern = 20_000;
const bytesPerProject = 4096;

function bytesOf({ textLength, patterns }: StoredDefinitions): number {
  return bytesPerProject + textLength * bytesPerCharacter + patterns * bytesPerPattern;
}

/** A flag as stored, with the fields that only the local evaluation document needs. */
export interface StoredFlag extends FlagDefinition {
  name: string;
  version: number;
  has_encrypted_payloads: boolean | null;
  evaluation_contexts: string[];
}

export interface StoredDefinitions extends ProjectDefinitions {
  environmentId: number;
  /** The version, which increases with every change. */
  version: string;
  /** All flags that are not deleted, sorted by key. */
  flags: StoredFlag[];
  textLength: number;
  /** The number of regular expressions, which use far more memory than their source text. */
  patterns: number;
}

/** The version of the rules by which `exact` compares booleans. SDKs with local evaluation receive this number. */
const matchingVersion = 1;

const patternOperator = /"(?:not_)?regex"/g;

/** Loads an environment's definitions. Returns null if the environment does not exist. @throws database errors */
export async function loadDefinitions(sql: Sql, environmentId: number): Promise<StoredDefinitions | null> {
  return runInTimeSlices(readRows(await findDefinitionRows(sql, environmentId), environmentId));
}

function* readRows(rows: readonly DefinitionRow[], environmentId: number): Steps<StoredDefinitions | null> {
  const definitions: StoredDefinitions = {
    environmentId,
    version: '',
    flags: [],
    cohorts: [],
    groupTypes: {},
    timeZone: 'UTC',
    matchingVersion,
    textLength: 0,
    patterns: 0,
  };
  for (const row of rows) {
    definitions.textLength += row.json.length;
    definitions.patterns += row.json.match(patternOperator)?.length ?? 0;
    addRow(definitions, row);
    yield;
  }
  definitions.flags.sort((a, b) => (a.key < b.key ? -1 : 1));
  return definitions.version === '' ? null : definitions;
}

function addRow(definitions: StoredDefinitions, { kind, json }: DefinitionRow): void {
  switch (kind) {
    case 'project': {
      const row = JSON.parse(json) as { version: string; time_zone: string };
      definitions.version = row.version;
      definitions.timeZone = row.time_zone;
      return;
    }
    case 'flag':
      definitions.flags.push(JSON.parse(json) as StoredFlag);
      return;
    case 'cohort': {
      const row = JSON.parse(json) as { id: number; is_static: boolean; filters: unknown; groups: unknown };
      definitions.cohorts.push({ id: row.id, isStatic: row.is_static, tree: cohortTree(row) });
      return;
    }
    case 'group_type': {
      const row = JSON.parse(json) as { index: number; name: string };
      definitions.groupTypes[row.index] = row.name;
    }
  }
}

/**
 * Returns a cohort's filter tree. Cohorts in an older format have a list of groups. A person is a member if any group
 * matches, and a group matches if all its filters match.
 */
function cohortTree({ filters, groups }: { filters: unknown; groups: unknown }): unknown {
  if (isObject(filters)) return filters.properties ?? null;
  if (!Array.isArray(groups) || groups.length === 0) return null;
  return {
    type: 'OR',
    values: groups.map((group) => ({ type: 'AND', values: isObject(group) ? filtersOf(group.properties) : [] })),
  };
}

/** In the oldest format, the filters are an object, for example `{"plan": "pro"}`. */
function filtersOf(properties: unknown): unknown[] {
  if (Array.isArray(properties)) return properties;
  if (!isObject(properties)) return [];
  return Object.entries(properties).map(([key, value]) => ({ type: 'person', key, operator: 'exact', value }));
}
