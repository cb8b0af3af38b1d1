import { readFileSync } from 'node:fs';
import {
  type CompiledFlags,
  compileFlags,
  type EvaluationContext,
  nothingStored,
  type ProjectDefinitions,
} from '../index.ts';

/**
 * The columns are `[document, category, flag, distinct ID, context, value, reason, payload, SDKs that agree, other
 * results]`.
 */
export type FlagCase = [
  document: number,
  category: string,
  flag: string,
  distinctId: string,
  context: CaseContext,
  value: boolean | string,
  reason: string,
  payload: string | null,
  sdks: string,
  differs?: Record<string, unknown>,
];

interface CaseContext {
  person_properties?: Record<string, unknown>;
  groups?: Record<string, unknown>;
  group_properties?: Record<string, unknown>;
  device_id?: string;
}

interface CaseFile {
  static_cohorts: Record<string, string[]>;
  docs: CaseDocument[];
  cases: FlagCase[];
  hash: [prefix: string, id: string, salt: string, hash: number][];
}

interface CaseDocument {
  flags: { id: number; key: string; active: boolean; filters: { groups?: { properties?: CaseFilter[] }[] } }[];
  cohorts: Record<string, unknown>;
  group_type_mapping: Record<string, string>;
}

interface CaseFilter {
  type: string;
  key: string;
}

export const caseFile = JSON.parse(readFileSync(new URL('flag-cases.json', import.meta.url), 'utf8')) as CaseFile;

/** The case file's documents as stored definitions. The second document has matching version 2. */
const caseDefinitions: ProjectDefinitions[] = caseFile.docs.map((document, index) => ({
  flags: withTargetIds(document.flags),
  cohorts: [
    ...Object.entries(document.cohorts).map(([id, tree]) => ({ id: Number(id), isStatic: false, tree })),
    ...Object.keys(caseFile.static_cohorts).map((id) => ({ id: Number(id), isStatic: true, tree: null })),
  ],
  groupTypes: document.group_type_mapping,
  timeZone: 'UTC',
  matchingVersion: index === 1 ? 2 : 1,
}));

export const caseFlags: CompiledFlags[] = caseDefinitions.map(compileFlags);

export function caseContext(distinctId: string, sent: CaseContext): EvaluationContext {
  const memberships = Object.entries(caseFile.static_cohorts).filter(([, members]) => members.includes(distinctId));
  return {
    distinctId,
    ...(sent.device_id === undefined ? {} : { deviceId: sent.device_id }),
    groups: sent.groups ?? {},
    personProperties: sent.person_properties ?? {},
    groupProperties: sent.group_properties ?? {},
    stored: { ...nothingStored, staticCohorts: new Set(memberships.map(([id]) => Number(id))) },
    now: Date.UTC(2026, 0, 15),
  };
}

/** Replaces the keys of dependencies with IDs, because documents for SDKs contain keys and stored flags contain IDs. */
function withTargetIds(flags: CaseDocument['flags']): CaseDocument['flags'] {
  const ids = new Map(flags.map(({ id, key }) => [key, String(id)]));
  return flags.map((flag) => ({
    ...flag,
    filters: {
      ...flag.filters,
      ...(flag.filters.groups && {
        groups: flag.filters.groups.map((group) => ({
          ...group,
          properties: (group.properties ?? []).map((filter) =>
            filter.type === 'flag' ? { ...filter, key: ids.get(filter.key) ?? '999999' } : filter,
          ),
        })),
      }),
    },
  }));
}
