// Answers that are kept: by the question and all that decides its answer but the events, for as long as they are of use.

import { createHash } from 'node:crypto';
import { isRecord, type ProjectSettings, type QueryAnswer, sourceOf } from '@millrace/insights';
import { isAppError } from '@millrace/runtime';
import type { KeyValue } from '@millrace/runtime/cache';

/** An answer, and when it was computed. */
export interface KeptAnswer {
  answer: QueryAnswer;
  /** Milliseconds since 1970. */
  at: number;
}

/** Fresh and lazy: how old an answer may be, milliseconds. */
export interface Ages {
  fresh: number;
  lazy: number;
}

const minute = 60_000;
const hour = 60 * minute;
const day = 24 * hour;

const agesByInterval = new Map<unknown, Ages>([
  ['minute', { fresh: 5 * minute, lazy: 15 * minute }],
  ['hour', { fresh: hour, lazy: 2 * hour }],
  ['day', { fresh: 6 * hour, lazy: 12 * hour }],
  ['week', { fresh: day, lazy: day }],
  ['month', { fresh: 2 * day, lazy: 2 * day }],
]);
const usualAges: Ages = { fresh: 6 * hour, lazy: 12 * hour };

/** Pages that show web traffic follow it closely. */
const agesOfWeb: Ages = { fresh: 5 * minute, lazy: 15 * minute };
const isOfWeb = (query: unknown) => isRecord(query) && /^Web\w+Query$/.test(String(query.kind));

/** Checks and descriptions of SQL cost little and depend on property definitions, so their results are never reused. */
const agesOfChecks: Ages = { fresh: -1, lazy: -1 };
const isCheck = (query: unknown) =>
  isRecord(query) && (query.kind === 'HogQLMetadata' || query.kind === 'DatabaseSchemaQuery');

/** By the kind and the interval of the query. */
function agesOf(query: unknown): Ages {
  if (isCheck(query)) return agesOfChecks;
  if (isOfWeb(query)) return agesOfWeb;
  return agesByInterval.get(intervalOf(query)) ?? usualAges;
}

function intervalOf(query: unknown): unknown {
  if (!isRecord(query)) return undefined;
  return isRecord(query.source) ? intervalOf(query.source) : query.interval;
}

/** A range that was over when it was computed changes only by late events: its answer is fresh for a day. */
export function agesOfKept(query: unknown, { answer, at }: KeptAnswer): Ages {
  const ages = agesOf(query);
  const end = Date.parse(answer.resolved_date_range?.date_to ?? '');
  if (!(end < at - 10_000)) return ages;
  return { fresh: Math.max(day, ages.fresh), lazy: Math.max(day, ages.lazy) };
}

/** After which clients that show the answer may ask for a newer one, milliseconds: a hint, nobody is refused. */
export function pauseOfKept(query: unknown, { answer: { resolved_date_range: range } }: KeptAnswer): number {
  const interval = intervalOf(query);
  if (range === undefined || interval === 'minute') return minute;
  const days = Math.ceil((Date.parse(range.date_to) - Date.parse(range.date_from)) / day);
  return interval === 'hour' || days <= 7 ? 3 * minute : 15 * minute;
}

/** The same for the same question of a project, in whatever order its fields were written; another when its settings or cohorts change. */
export function cacheKey({ cohorts, variables, ...settings }: ProjectSettings, query: unknown, rows?: number): string {
  const text = sourceOf(query)?.query;
  const usesVariables = typeof text === 'string' && text.includes('variables');
  const parts = inOrder({ settings, cohorts: [...cohorts], query, rows, ...(usesVariables && { variables }) });
  return `cache_${createHash('sha256').update(JSON.stringify(parts)).digest('hex').slice(0, 32)}`;
}

function inOrder(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(inOrder);
  if (!isRecord(value)) return value;
  return Object.fromEntries(
    Object.keys(value)
      .sort()
      .map((key) => [key, inOrder(value[key])]),
  );
}

/** A larger answer is computed each time. */
const maxCharacters = 2 * 2 ** 20;
/** Insights and dashboards show what is kept, however old: for a week. */
const keptForSeconds = 7 * 24 * 3600;

/** A store that does not answer holds nothing: questions are computed then. */
export function createResultCache(keyValue: KeyValue) {
  const nameOf = (key: string) => `query result:${key}`;
  return {
    async read(key: string): Promise<KeptAnswer | null> {
      const text = await keyValue.get(nameOf(key)).catch(whenUnavailable(null));
      return text === null ? null : (JSON.parse(text) as KeptAnswer);
    },
    async write(key: string, kept: KeptAnswer): Promise<void> {
      const text = JSON.stringify(kept);
      if (text.length > maxCharacters) return;
      await keyValue.set(nameOf(key), text, keptForSeconds).catch(whenUnavailable(undefined));
    },
  };
}

/** What counts as the result where the store does not answer. */
export function whenUnavailable<T>(instead: T): (error: unknown) => T {
  return (error) => {
    if (isAppError(error, 'unavailable')) return instead;
    throw error;
  };
}
