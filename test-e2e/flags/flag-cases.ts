import { readFileSync } from 'node:fs';

/** One evaluation, with the expected results of the server and of every SDK. */
export interface FlagCase {
  number: number;
  category: string;
  flag: string;
  distinctId: string;
  context: {
    person_properties?: Record<string, unknown>;
    groups?: Record<string, string | number>;
    group_properties?: Record<string, Record<string, unknown>>;
    device_id?: string;
  };
  value: boolean | string;
  /** The server's reason, in the format `code:index`, `omitted` or `failed:code`. */
  reason: string;
  payload: string | null;
  /**
   * What SDKs with local evaluation return: the server's value, no value (they query the server), or a different value.
   */
  locally: Record<'python' | 'node', { says: 'the same' | 'nothing' } | { says: 'another'; value: unknown }>;
}

export interface CaseFlag {
  key: string;
  active: boolean;
  filters: { groups: { properties?: CaseFilter[] }[] };
  ensure_experience_continuity?: boolean;
  bucketing_identifier?: string;
}

export interface CaseFilter {
  type: string;
  key: string;
  operator?: string | null;
  value?: unknown;
}

export interface CaseDocument {
  flags: CaseFlag[];
  cohorts: Record<string, object>;
  group_type_mapping: Record<string, string>;
}

type Row = [
  document: number,
  category: string,
  flag: string,
  distinctId: string,
  context: FlagCase['context'],
  value: boolean | string,
  reason: string,
  payload: string | null,
  signs: string,
  differs?: { py?: unknown; node?: unknown },
];

interface CaseFile {
  docs: CaseDocument[];
  static_cohorts: Record<string, string[]>;
  cases: Row[];
}

// The flag evaluator's cases. The JSON file describes their origin.
const file = new URL('../../packages/flags/src/testing/flag-cases.json', import.meta.url);
export const caseFile = JSON.parse(readFileSync(file, 'utf8')) as CaseFile;

export function listCases(document: number): FlagCase[] {
  return caseFile.cases.flatMap((row, number) => (row[0] === document ? [toCase(row, number)] : []));
}

function toCase(row: Row, number: number): FlagCase {
  const [, category, flag, distinctId, context, value, reason, payload, signs, differs = {}] = row;
  return {
    number,
    category,
    flag,
    distinctId,
    context,
    value,
    reason,
    payload,
    locally: { python: toSaying(signs[0], differs.py), node: toSaying(signs[1], differs.node) },
  };
}

function toSaying(sign: string | undefined, value: unknown): FlagCase['locally']['python'] {
  if (sign === '=') return { says: 'the same' };
  return sign === '?' ? { says: 'nothing' } : { says: 'another', value };
}
