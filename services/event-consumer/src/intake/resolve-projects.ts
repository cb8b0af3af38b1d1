import type { Sql } from '@millrace/db/sql';
import { LRUCache } from 'lru-cache';
import type { ResolvedProject } from './incoming-event.ts';
import { selectProjects } from './resolve-projects-store.ts';

export interface ProjectResolver {
  /** The project of each token that has one. At most one statement; none when all are known. Rejects when PostgreSQL cannot be asked. */
  resolve(tokens: Iterable<string>): Promise<Map<string, ResolvedProject>>;
  /** Those of the projects that have not noted an ingested event yet, as far as this process knows. */
  withoutEvents(projectIds: Iterable<number>): number[];
  /** Tells that the note was committed. */
  noteEvents(projectIds: number[]): void;
}

export interface ProjectResolverOptions {
  sql: Sql;
  /** A changed setting of a project takes effect within this time. */
  ttlMs?: number;
  maxProjects?: number;
}

/**
 * Finds projects by their API key, remembering those it found. Unknown keys are asked for again each time: the gateway
 * lets them through only while it cannot ask, and a remembered "unknown" could drop the first events of a new project.
 */
export function createProjectResolver({
  sql,
  ttlMs = 60_000,
  maxProjects = 10_000,
}: ProjectResolverOptions): ProjectResolver {
  const known = new LRUCache<string, ResolvedProject>({ max: maxProjects, ttl: ttlMs });
  const withEvents = new LRUCache<number, true>({ max: maxProjects });

  return {
    async resolve(tokens) {
      const found = new Map<string, ResolvedProject>();
      const missing: string[] = [];
      for (const token of new Set(tokens)) {
        const project = known.get(token);
        if (project !== undefined) found.set(token, project);
        else if (isPossibleToken(token)) missing.push(token);
      }
      if (missing.length === 0) return found;
      for (const { hasIngestedEvent, ...project } of await selectProjects(sql, missing)) {
        known.set(project.token, project);
        found.set(project.token, project);
        if (hasIngestedEvent) withEvents.set(project.id, true);
      }
      return found;
    },
    withoutEvents: (projectIds) => [...new Set(projectIds)].filter((id) => !withEvents.has(id)),
    noteEvents(projectIds) {
      for (const id of projectIds) withEvents.set(id, true);
    },
  };
}

/** Text that PostgreSQL would refuse to even compare belongs to nobody. */
function isPossibleToken(token: string): boolean {
  return token.length > 0 && token.length <= 200 && token.isWellFormed() && !token.includes('\u0000');
}
