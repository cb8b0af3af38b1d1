// Creates and changes insights, and adds them to dashboards. Checks the caller's access, and records changes in the
// activity log.

import { isDeepStrictEqual } from 'node:util';
import { recordActivity } from '@millrace/accounts';
import type { Sql, Transaction } from '@millrace/db';
import type { SqlParser } from '@millrace/insights';
import { AppError } from '@millrace/runtime';
import type { AddressedProject } from '../../access/addressed-store.ts';
import type { Caller } from '../../access/caller.ts';
import {
  canChangeDashboard,
  canChangeInsight,
  type Editor,
  type Restricted,
} from '../../access/dashboard-restriction.ts';
import { requireReferencedRecords } from '../../access/named-records.ts';
import { hasRecordLevel, requireRecordAccess } from '../../access/record-rights.ts';
import { requireScope } from '../../access/require-scope.ts';
import { lockEnvironment } from '../../sql/lock-environment.ts';
import { applyInsightChanges, fillInsightDefaults, type InsightChanges, requireRunnable } from './rules.ts';
import { findInsight, type InsightFields, type InsightRow, insertInsight, updateInsight } from './store.ts';

export interface InsightAuthor extends Pick<Caller, 'userId' | 'scopes'> {
  target: AddressedProject;
}

/**
 * Creates an insight.
 * @param parser the parser that checks the query's SQL. Null for a copy of another insight, whose query is not checked
 * because it may no longer be valid.
 * @throws AppError `invalid` naming the field
 */
export async function createInsight(
  tx: Transaction,
  { userId, scopes, target, parser }: InsightAuthor & { parser: SqlParser | null },
  body: InsightChanges,
): Promise<InsightRow> {
  const { environmentId } = target;
  const fields = fillInsightDefaults(body);
  await requireReferencedRecords(tx, target, fields.query);
  if (fields.query && parser) await requireRunnable({ sql: tx, parser }, environmentId, fields.query);
  await lockEnvironment(tx, environmentId);
  const id = await insertInsight(tx, { environmentId, userId }, fields);
  if (body.dashboards && !fields.deleted) {
    const place = { environmentId, editor: { ...target, userId, scopes } };
    await placeInsight(tx, place, { insight: { id, tiles: [] }, dashboards: body.dashboards });
  }
  const after = await writtenInsight(tx, environmentId, id);
  await recordInsightActivity(tx, { userId, target }, { after });
  return after;
}

/**
 * Changes only the given fields. A deleted insight is removed from its dashboards, and is not added again when it is
 * restored.
 * @throws AppError `not_found`, `forbidden` if the insight is on a dashboard that the caller cannot change, or
 *   `invalid` naming the field
 */
export async function changeInsight(
  tx: Transaction,
  { userId, scopes, target, parser }: InsightAuthor & { parser: SqlParser },
  { name, changes }: { name: string; changes: InsightChanges },
): Promise<InsightRow> {
  const { environmentId } = target;
  const editor = { ...target, userId, scopes };
  await requireReferencedRecords(tx, target, changes.query);
  await lockEnvironment(tx, environmentId);
  const before = await requireInsight(tx, target, { name, needed: 'editor' });
  if (!canChangeInsight(before.tiles, editor)) {
    const detail = 'This insight is on a dashboard that can only be edited by its owner and project admins.';
    throw new AppError('forbidden', detail);
  }
  const fields = applyInsightChanges(fieldsOf(before), changes);
  // Do not check an unchanged query, because a cohort in it may have been deleted in the meantime.
  if (fields.query && !isDeepStrictEqual(fields.query, before.query))
    await requireRunnable({ sql: tx, parser }, environmentId, fields.query);
  const { id } = before;
  await updateInsight(tx, { id, userId, isModified: isModified(before, fields) }, fields);
  if (fields.deleted) await removeTiles(tx, id);
  else if (changes.dashboards !== undefined) {
    const dashboards = changes.dashboards ?? [];
    await placeInsight(tx, { environmentId, editor }, { insight: before, dashboards });
  }
  const after = await writtenInsight(tx, environmentId, id);
  await recordInsightActivity(tx, { userId, target }, { before, after });
  return after;
}

function isModified(before: InsightFields, after: InsightFields): boolean {
  return !isDeepStrictEqual(
    [before.name, before.description, before.query],
    [after.name, after.description, after.query],
  );
}

/**
 * Finds an insight and checks the caller's access level.
 * @throws AppError `not_found` or `forbidden`
 */
export async function requireInsight(
  sql: Sql,
  { environmentId, rights }: Pick<AddressedProject, 'environmentId' | 'rights'>,
  { name, needed }: { name: string; needed: 'viewer' | 'editor' },
): Promise<InsightRow> {
  return requireRecordAccess(rights, { kind: 'insight', needed }, await findInsight(sql, environmentId, name));
}

async function writtenInsight(tx: Transaction, environmentId: number, id: number): Promise<InsightRow> {
  const row = await findInsight(tx, environmentId, String(id));
  if (!row) throw new Error('The insight could not be read after it was written.');
  return row;
}

function fieldsOf(row: InsightRow): InsightFields {
  const { name, derived_name, description, query, order, deleted, tags, favorited, saved } = row;
  return { name, derived_name, description, query, order, deleted, tags, favorited, saved };
}

function visible(row: InsightRow) {
  return { ...fieldsOf(row), dashboards: row.tiles.map(({ dashboard_id }) => dashboard_id) };
}

async function recordInsightActivity(
  tx: Sql,
  { userId, target }: Omit<InsightAuthor, 'scopes'>,
  { before, after }: { before?: InsightRow; after: InsightRow },
): Promise<void> {
  await recordActivity(tx, {
    organizationId: target.organizationId,
    environmentId: target.environmentId,
    scope: 'Insight',
    itemId: after.id,
    activity: chooseActivityVerb(before, after),
    actor: { userId },
    name: after.name ?? after.derived_name,
    ...(before && { change: { before: visible(before), after: visible(after) } }),
  });
}

export function chooseActivityVerb(
  before: { deleted: boolean } | undefined,
  after: { deleted: boolean },
): 'created' | 'updated' | 'deleted' | 'restored' {
  if (before === undefined) return 'created';
  if (before.deleted === after.deleted) return 'updated';
  return after.deleted ? 'deleted' : 'restored';
}

/** Maximum number of tiles per dashboard. It is limited because a response contains the insight of every tile. */
const maxTiles = 200;

/**
 * Sets the dashboards that an insight is on. If the insight was on a dashboard before, restores its former tile.
 * @throws AppError `invalid` if a dashboard does not exist, or `forbidden` if the caller cannot change a dashboard
 */
async function placeInsight(
  tx: Transaction,
  { environmentId, editor }: { environmentId: number; editor: Editor & Pick<Caller, 'scopes'> },
  { insight, dashboards }: { insight: Pick<InsightRow, 'id' | 'tiles'>; dashboards: readonly number[] },
): Promise<void> {
  const known = new Map((await findDashboards(tx, environmentId, dashboards)).map((one) => [one.id, one]));
  const missing = dashboards.find((id) => !known.has(id));
  if (missing !== undefined) {
    throw new AppError('invalid', `Invalid pk "${missing}" - object does not exist.`, {
      code: 'does_not_exist',
      attr: 'dashboards',
    });
  }
  const before = new Set(insight.tiles.map(({ dashboard_id }) => dashboard_id));
  for (const dashboard of known.values()) {
    if (before.has(dashboard.id)) continue;
    requireScope(editor, 'dashboard:write');
    requireMayChange(
      { ...dashboard, dashboard_id: dashboard.id },
      editor,
      `add insights to dashboard: ${dashboard.id}`,
    );
    requireTileSpace(dashboard);
  }
  for (const tile of insight.tiles) {
    if (known.has(tile.dashboard_id)) continue;
    requireScope(editor, 'dashboard:write');
    requireMayChange(tile, editor, `remove insights from dashboard: ${tile.dashboard_id}`);
  }
  await writeTiles(tx, insight.id, dashboards);
}

function requireMayChange(dashboard: Restricted & { dashboard_id: number }, editor: Editor, what: string): void {
  const named = { id: dashboard.dashboard_id, createdById: dashboard.owner_id };
  if (canChangeDashboard(dashboard, editor) && hasRecordLevel(editor.rights, 'dashboard', 'editor', named)) return;
  throw new AppError('forbidden', `You don't have permission to ${what}.`);
}

/** Checks that more tiles fit on a dashboard. @throws AppError `invalid` if the dashboard would have too many tiles */
export function requireTileSpace({ id, tiles }: { id: number; tiles: number }, more = 1): void {
  if (tiles + more <= maxTiles) return;
  throw new AppError(
    'invalid',
    `Dashboard ${id} already has ${maxTiles} tiles, which is the maximum. Remove tiles, or use another dashboard.`,
    {
      code: 'limit_exceeded',
      attr: 'dashboards',
    },
  );
}

type FoundDashboard = Restricted & { id: number; tiles: number };

async function findDashboards(sql: Sql, environmentId: number, ids: readonly number[]): Promise<FoundDashboard[]> {
  return sql.query<FoundDashboard & Record<string, unknown>>(
    `SELECT d.id, d.restriction_level, d.created_by_id AS owner_id,
            (SELECT count(*)::int FROM dashboard_tile t WHERE t.dashboard_id = d.id AND NOT t.deleted) AS tiles
       FROM dashboard d WHERE d.project_id = $1 AND d.id = ANY ($2::int[]) AND NOT d.deleted ORDER BY d.id`,
    [environmentId, ids],
  );
}

async function writeTiles(tx: Transaction, insightId: number, dashboards: readonly number[]): Promise<void> {
  await removeTiles(tx, insightId, dashboards);
  await tx.query(
    `INSERT INTO dashboard_tile (dashboard_id, insight_id)
     SELECT DISTINCT placed.dashboard_id, $1::int FROM unnest($2::int[]) AS placed (dashboard_id)
     ON CONFLICT (dashboard_id, insight_id) DO UPDATE SET deleted = false WHERE dashboard_tile.deleted`,
    [insightId, dashboards],
  );
}

async function removeTiles(tx: Transaction, insightId: number, but: readonly number[] = []): Promise<void> {
  await tx.query(
    `UPDATE dashboard_tile SET deleted = true
      WHERE insight_id = $1 AND NOT deleted AND dashboard_id <> ALL ($2::int[])`,
    [insightId, but],
  );
}
