// Events that were stored in PostgreSQL are copied to ClickHouse, and what was deleted leaves it too.

import type { Database } from '@millrace/db';
import {
  copyEvents,
  createSpan,
  createTables,
  deleteEvents,
  deleteOldEvents,
  type ReadablePostgres,
} from '@millrace/insights';
import type { Logger, Metrics } from '@millrace/runtime';
import type { SettledUntil } from '../batch-exports/read.ts';
import { findCommonEnd, listOwnEnds } from '../retention/store.ts';
import {
  claimCopy,
  finishRemovals,
  isRebuilding,
  noteCopied,
  oldestStored,
  type Removal,
  readRemovals,
  releaseCopy,
} from './store.ts';

export interface CopyTarget {
  client: Parameters<typeof copyEvents>[0];
  postgres: ReadablePostgres;
}

export interface FollowerDeps {
  database: Pick<Database, 'sql'>;
  target: CopyTarget;
  settledUntil: SettledUntil;
  /** Of the installation; 0: for ever. Environments may keep less. */
  eventRetentionDays: number;
  gauge: ReturnType<typeof createCopyMetrics>;
  logger: Logger;
}

/** Longer than any portion takes. */
const leaseSeconds = 600;
const removalsAtOnce = 500;
const forgetEveryMs = 3_600_000;

export function createCopyMetrics(metrics: Metrics) {
  return metrics.gauge(
    'millrace_event_store_lag_seconds',
    'Age of the last stored event that ClickHouse is known to have.',
    [],
  );
}

/**
 * Copies portions of what was stored, by the time it was stored; one worker does so at a time. A portion that was broken off is copied once
 * more, which changes nothing: an event is one by its key. After a long pause it goes on where it was; at the first time with the oldest
 * event there is.
 *
 * @returns a task: whether there may be more.
 */
export function createFollower({
  database: { sql },
  target,
  settledUntil,
  gauge,
  logger,
  eventRetentionDays,
}: FollowerDeps) {
  const { client, postgres } = target;
  let isReady = false;
  const span = createSpan();
  let forgottenAt = Number.NEGATIVE_INFINITY;

  async function remove(): Promise<void> {
    const removals = await readRemovals(sql, removalsAtOnce);
    for (const group of byProject(removals)) await removeOf(group);
    await finishRemovals(
      sql,
      removals.map(({ id }) => id),
    );
  }

  /** What stays of these ids, with less in it or of somebody else, comes again. */
  async function removeOf({ projectId, ids }: ProjectRemoval): Promise<void> {
    await deleteEvents(client, { projectId, distinctIds: ids });
    if (ids === null) return;
    const list = ids.map(literal).join(', ');
    await copyEvents(client, postgres, { where: `project_id = ${projectId} AND distinct_id IN (${list})` });
  }

  /** What is too old here is too old there. */
  async function forget(): Promise<void> {
    if (performance.now() - forgottenAt < forgetEveryMs) return;
    const common = await findCommonEnd(sql, eventRetentionDays);
    const own = await listOwnEnds(sql, eventRetentionDays);
    await deleteOldEvents(client, {
      common,
      own: own.map(({ environment_id: projectId, ends_at: before }) => ({ projectId, before })),
    });
    forgottenAt = performance.now();
  }

  async function copy(from: Date | null): Promise<boolean> {
    const [settled, begin] = [await settledUntil(), from ?? (await oldestStored(sql))];
    if (settled === null) return false;
    if (begin === null || begin >= settled) {
      if (begin === null) await noteCopied(sql, settled);
      gauge.set(0);
      return false;
    }
    const end = new Date(Math.min(settled.getTime(), begin.getTime() + span.ms));
    const between = `created_at >= ${literal(begin.toISOString())} AND created_at < ${literal(end.toISOString())}`;
    await span.measure(() => copyEvents(client, postgres, { where: between }));
    await noteCopied(sql, end);
    gauge.set(Math.max(0, (Date.now() - end.getTime()) / 1000));
    return end < settled;
  }

  return async (): Promise<boolean> => {
    if (!isReady) {
      await createTables(client, postgres);
      isReady = true;
      logger.info('ClickHouse has its tables; stored events are copied to it');
    }
    const claim = await claimCopy(sql, leaseSeconds);
    if (claim === undefined) return false;
    try {
      // What is deleted while the table is made anew is to leave the new one.
      if (!(await isRebuilding(sql))) await remove();
      await forget();
      return await copy(claim.copied_until);
    } finally {
      await releaseCopy(sql);
    }
  };
}

interface ProjectRemoval {
  projectId: number;
  /** Null: all. */
  ids: string[] | null;
}

function byProject(removals: readonly Removal[]): ProjectRemoval[] {
  const groups = new Map<string, ProjectRemoval>();
  for (const { project_id: projectId, distinct_id: id } of removals) {
    const key = `${projectId} ${id === null}`;
    const group = groups.get(key) ?? { projectId, ids: id === null ? null : [] };
    if (id !== null) group.ids?.push(id);
    groups.set(key, group);
  }
  return [...groups.values()];
}

/** As PostgreSQL writes a text, whatever is in it. */
const literal = (text: string) => `'${text.replaceAll("'", "''")}'`;
