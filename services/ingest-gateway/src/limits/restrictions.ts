// Restrictions that operators set for a project or a distinct ID, for example to drop its events.

import type { Restriction, RestrictionKind } from '@millrace/contracts';
import type { ProjectChanges, Sql } from '@millrace/db/sql';
import type { Logger } from '@millrace/runtime';
import { withTimeLimit } from '../access/store-limits.ts';
import { selectRestrictions } from './restriction-store.ts';

export interface Restrictions {
  of(token: string): KeyRestrictions | undefined;
  size(): number;
  stop(): void;
}

/** The time limit for the first read in milliseconds, in case the database does not respond. */
const firstReadLimitMs = 3000;
/** Wait after a notification, so that the table is read only once if several keys change at the same time. */
const afterMessageMs = 100;

/**
 * Reads the operators' restrictions from the settings and from the table. Reads the table every few seconds, and as
 * soon as PostgreSQL announces a change to the table or to a project. If PostgreSQL is down, the last known
 * restrictions apply. A process that starts during an outage knows only the restrictions in the settings.
 */
export async function createRestrictions(options: {
  sql: Sql;
  changes: Pick<ProjectChanges, 'subscribe'>;
  logger: Logger;
  configured: readonly Restriction[];
  refreshAfterMs: number;
}): Promise<Restrictions> {
  const { sql, changes, logger, configured, refreshAfterMs } = options;
  let set = createRestrictionSet(configured);
  let isStopped = false;
  let timer: NodeJS.Timeout | undefined;
  let nextAtMs = Number.POSITIVE_INFINITY;
  let isReading = false;
  let wasReported = false;

  async function refresh(): Promise<void> {
    isReading = true;
    nextAtMs = Number.POSITIVE_INFINITY;
    try {
      set = createRestrictionSet([...configured, ...(await selectRestrictions(sql))]);
      wasReported = false;
    } catch (error) {
      if (!wasReported)
        logger.warn('could not read the ingestion restrictions; still using the previous ones', { error });
      wasReported = true;
    }
    isReading = false;
    const requestedInMs = Math.max(0, nextAtMs - performance.now());
    nextAtMs = Number.POSITIVE_INFINITY;
    refreshIn(Math.min(refreshAfterMs, requestedInMs));
  }

  function refreshIn(ms: number): void {
    const atMs = performance.now() + ms;
    if (isStopped || atMs >= nextAtMs) return;
    nextAtMs = atMs;
    if (isReading) return;
    clearTimeout(timer);
    timer = setTimeout(() => void refresh(), ms).unref();
  }

  await withTimeLimit(refresh(), firstReadLimitMs).catch(() => {});
  changes.subscribe(() => refreshIn(afterMessageMs));
  return {
    of: (token) => set.of(token),
    size: () => set.size,
    stop() {
      isStopped = true;
      clearTimeout(timer);
    },
  };
}

/** The distinct IDs that one kind of restriction applies to, for one API key. */
interface Scope {
  isWholeKey: boolean;
  distinctIds: Set<string>;
}

export interface KeyRestrictions {
  applies(kind: RestrictionKind, distinctId: string): boolean;
}

interface RestrictionSet {
  /** Returns undefined if the key has no restrictions, like most keys. */
  of(token: string): KeyRestrictions | undefined;
  size: number;
}

function createRestrictionSet(restrictions: readonly Restriction[]): RestrictionSet {
  const byToken = new Map<string, Map<RestrictionKind, Scope>>();
  for (const { kind, token, distinctId } of restrictions) {
    const scopes = byToken.get(token) ?? new Map<RestrictionKind, Scope>();
    byToken.set(token, scopes);
    const scope = scopes.get(kind) ?? { isWholeKey: false, distinctIds: new Set<string>() };
    scopes.set(kind, scope);
    if (distinctId === null) scope.isWholeKey = true;
    else scope.distinctIds.add(distinctId);
  }
  const sets = new Map(
    [...byToken].map(([token, scopes]): [string, KeyRestrictions] => [
      token,
      {
        applies(kind, distinctId) {
          const scope = scopes.get(kind);
          return scope !== undefined && (scope.isWholeKey || scope.distinctIds.has(distinctId));
        },
      },
    ]),
  );
  return { of: (token) => sets.get(token), size: restrictions.length };
}

/**
 * Parses a setting: `token` or `token:distinct_id`, separated by commas (docs/wire-rules.md#quotas-and-limits). A
 * distinct ID can contain colons. If it contains a comma, it must be added to the table instead.
 */
export function parseRestrictionList(kind: RestrictionKind, text: string): Restriction[] {
  return text.split(',').flatMap((element) => {
    const entry = element.trim();
    const colon = entry.indexOf(':');
    const token = colon < 0 ? entry : entry.slice(0, colon);
    const distinctId = colon < 0 ? '' : entry.slice(colon + 1);
    return token === '' ? [] : [{ kind, token, distinctId: distinctId === '' ? null : distinctId }];
  });
}
