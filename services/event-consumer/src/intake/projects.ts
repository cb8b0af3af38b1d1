// Finds a record's project by its environment ID or project API key, with a cache.

import { type ProjectChanges, type Sql, unsubscribedMaxAgeMs } from '@millrace/db/sql';
import { LRUCache } from 'lru-cache';
import type { RecordOwner } from '../dead-letters.ts';
import type { ResolvedProject } from '../model/event.ts';
import { type FormerKey, selectFormerKeys, selectProjects } from './projects-store.ts';

/** Returns a record's project, or undefined if the record has no owner or the environment was deleted. */
export type FindProject = (record: RecordOwner) => ResolvedProject | undefined;

export interface ProjectResolver {
  /**
   * Finds the projects of records. Does not run a statement if all projects are cached. Rejects if PostgreSQL is
   * unavailable.
   */
  resolve(records: Iterable<RecordOwner>): Promise<FindProject>;
  withoutEvents(projectIds: Iterable<number>): number[];
  markAsHavingEvents(projectIds: number[]): void;
}

/**
 * A gateway that cannot reach its databases can accept events with a replaced key for this many milliseconds after the
 * replacement, including an allowance for clock differences.
 */
const takenAfterReplacementMs = 150_000;

/**
 * Creates a resolver that finds and caches the projects of records. It trusts the environment ID that the gateway wrote
 * into a record. Without an environment ID, it uses the project that owned the key when the record was captured.
 * Unknown keys are looked up each time. The gateway accepts such a key only while it cannot look keys up, and if the
 * key were cached as unknown, the first events of a new project could be dropped.
 */
export function createProjectResolver({
  sql,
  changes,
  eventRetentionDays = 0,
  ttlMs = 60_000,
  maxProjects = 10_000,
}: {
  sql: Sql;
  changes: Pick<ProjectChanges, 'subscribe' | 'isSubscribed'>;
  /** The installation's event retention in days, or 0 for no limit. */
  eventRetentionDays?: number;
  /** The number of milliseconds for which cached data can be used while change notifications are received. */
  ttlMs?: number;
  maxProjects?: number;
}): ProjectResolver {
  const byId = new LRUCache<number, Remembered>({ max: maxProjects });
  const idByToken = new LRUCache<string, number>({ max: maxProjects });
  const withEvents = new LRUCache<number, true>({ max: maxProjects });
  /** A counter that increases with every change. The result of a query that started before a change is not cached. */
  let generation = 0;

  changes.subscribe((change) => {
    generation += 1;
    if (change === null) {
      // The database may have been restored, or its state after a failover may be older than the cache.
      for (const memory of [byId, idByToken, withEvents]) memory.clear();
      return;
    }
    if (change.environmentId !== null) byId.delete(change.environmentId);
    for (const token of change.tokens) idByToken.delete(token);
  });

  function known(id: number | undefined): ResolvedProject | undefined {
    const remembered = id === undefined ? undefined : byId.get(id);
    if (remembered === undefined) return undefined;
    const usedForMs = changes.isSubscribed() ? ttlMs : Math.min(ttlMs, unsubscribedMaxAgeMs);
    return performance.now() - remembered.lookedUpAtMs < usedForMs ? remembered.project : undefined;
  }

  async function ask(found: Found, ids: number[], tokens: string[]): Promise<void> {
    if (ids.length === 0 && tokens.length === 0) return;
    const [startGeneration, lookedUpAtMs] = [generation, performance.now()];
    for (const { hasIngestedEvent, ...row } of await selectProjects(sql, ids, tokens)) {
      const project = { ...row, eventRetentionDays: shorterRetention(row.eventRetentionDays, eventRetentionDays) };
      if (generation === startGeneration) {
        byId.set(project.id, { project, lookedUpAtMs });
        idByToken.set(project.token, project.id);
      }
      found.byId.set(project.id, project);
      found.byToken.set(project.token, project);
      if (hasIngestedEvent) withEvents.set(project.id, true);
    }
  }

  /** Looks up unknown keys among the replaced keys. A key may have been replaced after the record was captured. */
  async function askFormer(found: Found, tokens: string[]): Promise<void> {
    const unknown = tokens.filter((token) => !found.byToken.has(token));
    if (unknown.length === 0) return;
    const keys = await selectFormerKeys(sql, unknown);
    const owners = [...new Set(keys.map(({ environmentId }) => environmentId))];
    await ask(
      found,
      owners.filter((id) => !found.byId.has(id)),
      [],
    );
    for (const key of keys) found.former.set(key.token, key);
  }

  return {
    async resolve(records) {
      const found: Found = { byId: new Map(), byToken: new Map(), former: new Map() };
      const { ids, tokens } = ownersOf(records);
      const missingIds = [...ids].filter((id) => !recall(known(id), found.byId, id));
      const missingTokens = [...tokens].filter((token) => !recall(known(idByToken.get(token)), found.byToken, token));
      await ask(found, missingIds, missingTokens);
      await askFormer(found, missingTokens);
      return (record) => ownerOf(record, found);
    },
    withoutEvents: (projectIds) => [...new Set(projectIds)].filter((id) => !withEvents.has(id)),
    markAsHavingEvents(projectIds) {
      for (const id of projectIds) withEvents.set(id, true);
    },
  };
}

interface Remembered {
  project: ResolvedProject;
  lookedUpAtMs: number;
}

interface Found {
  byId: Map<number, ResolvedProject>;
  byToken: Map<string, ResolvedProject>;
  former: Map<string, FormerKey>;
}

function ownersOf(records: Iterable<RecordOwner>): { ids: Set<number>; tokens: Set<string> } {
  const ids = new Set<number>();
  const tokens = new Set<string>();
  for (const { environment_id, token } of records) {
    if (environment_id !== undefined) ids.add(environment_id);
    else if (isPossibleToken(token)) tokens.add(token);
  }
  return { ids, tokens };
}

function recall<K>(project: ResolvedProject | undefined, into: Map<K, ResolvedProject>, key: K): boolean {
  if (project === undefined) return false;
  into.set(key, project);
  return true;
}

function ownerOf({ environment_id, token, now }: RecordOwner, found: Found): ResolvedProject | undefined {
  if (environment_id !== undefined) return found.byId.get(environment_id);
  const current = found.byToken.get(token);
  if (current !== undefined) return current;
  const former = found.former.get(token);
  if (former === undefined || Date.parse(now) > former.replacedAtMs + takenAfterReplacementMs) return undefined;
  return found.byId.get(former.environmentId);
}

/**
 * Returns whether a string can be a token. PostgreSQL rejects some strings, so a record with such a token has no owner.
 */
function isPossibleToken(token: string): boolean {
  return token.length > 0 && token.length <= 200 && token.isWellFormed() && !token.includes('\u0000');
}

/**
 * Combines the environment's and the installation's retention. An environment can keep events for fewer days than the
 * installation, but not longer.
 */
function shorterRetention(own: number | null, installation: number): number | null {
  if (installation === 0) return own;
  return Math.min(own ?? installation, installation);
}
