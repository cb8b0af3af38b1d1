import type { Sql } from '@millrace/db/sql';
import type { FlagDefinition, ProjectDefinitions, Steps } from '@millrace/flags';
import { inTimeSlices } from '../in-time-slices.ts';
import { cohortTree } from './cohort-tree.ts';
import { type DefinitionRow, findDefinitionRows } from './definition-store.ts';

/** A flag as it is stored, with what only documents show. */
export interface StoredFlag extends FlagDefinition {
  name: string;
  version: number;
  has_encrypted_payloads: boolean | null;
  evaluation_contexts: string[];
}

/** An environment's definitions as of one moment. */
export interface StoredDefinitions extends ProjectDefinitions {
  environmentId: number;
  /** Grows with every change. */
  version: string;
  /** Deleted ones left out, in the order of their keys. */
  flags: StoredFlag[];
  /** Length of all as JSON text. */
  textLength: number;
  /** How many regular expressions are in it, which take far more memory than their text. */
  patterns: number;
}

/** The rule by which `exact` compares with booleans; SDKs that evaluate by themselves are told the number. */
const matchingVersion = 1;

const patternOperator = /"(?:not_)?regex"/g;

/** Null when there is no such environment. Errors of the database reach the caller. */
export async function loadDefinitions(sql: Sql, environmentId: number): Promise<StoredDefinitions | null> {
  return inTimeSlices(readRows(await findDefinitionRows(sql, environmentId), environmentId));
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
