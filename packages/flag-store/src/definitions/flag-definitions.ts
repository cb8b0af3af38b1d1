import { isObject, redactedPayload } from '@millrace/contracts';
import type { Sql } from '@millrace/db/sql';
import { type CompiledFlags, compileFlagsInSteps } from '@millrace/flags';
import { inTimeSlices } from '../in-time-slices.ts';
import {
  createVersionedMemory,
  type VersionedMemory,
  type VersionedMemoryOptions,
} from '../memory/versioned-memory.ts';
import { findDefinitionsVersion } from './definition-store.ts';
import { loadDefinitions, type StoredDefinitions } from './stored-definitions.ts';

export interface DefinitionMemoryOptions
  extends Pick<VersionedMemoryOptions<unknown>, 'changes' | 'maxBytes' | 'onAsked'> {
  sql: Sql;
}

/** The compiled flags of environments, from memory. */
export function createFlagDefinitions(options: DefinitionMemoryOptions): VersionedMemory<CompiledFlags> {
  const { sql } = options;
  return createVersionedMemory({
    ...options,
    async load(environmentId) {
      const definitions = (await loadDefinitions(sql, environmentId)) ?? noDefinitions(environmentId);
      const value = await compileDefinitions(definitions);
      return { version: definitions.version, value, bytes: bytesOf(definitions) };
    },
    findVersion: (environmentId) => findDefinitionsVersion(sql, environmentId),
  });
}

/** Definitions made ready for evaluation; of many at a time, others are served in between. */
export async function compileDefinitions(definitions: StoredDefinitions): Promise<CompiledFlags> {
  const flags = definitions.flags.map((flag) => (flag.has_encrypted_payloads ? withRedactedPayloads(flag) : flag));
  return inTimeSlices(compileFlagsInSteps({ ...definitions, flags }));
}

/** What is secret is for those who hold a secret key; an evaluation is for everybody. */
function withRedactedPayloads<Flag extends { filters: unknown }>(flag: Flag): Flag {
  const filters = isObject(flag.filters) ? flag.filters : {};
  const keys = Object.keys(isObject(filters.payloads) ? filters.payloads : {});
  return { ...flag, filters: { ...filters, payloads: Object.fromEntries(keys.map((key) => [key, redactedPayload])) } };
}

function noDefinitions(environmentId: number): StoredDefinitions {
  const none = { flags: [], cohorts: [], groupTypes: {}, timeZone: 'UTC', textLength: 0, patterns: 0 };
  return { ...none, environmentId, version: '0', matchingVersion: 1 };
}

/** What compiled definitions take of the heap, measured: for each character that is stored, and for each pattern once it was tried. */
const bytesPerCharacter = 3;
const bytesPerPattern = 20_000;
const bytesPerProject = 4096;

function bytesOf({ textLength, patterns }: StoredDefinitions): number {
  return bytesPerProject + textLength * bytesPerCharacter + patterns * bytesPerPattern;
}
