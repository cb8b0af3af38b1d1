// Creates, copies and changes dashboards. Checks the fields and the caller's access, and records changes in the
// activity log.

import { isDeepStrictEqual } from 'node:util';
import { recordActivity } from '@millrace/accounts';
import { cutToCodePoints } from '@millrace/contracts';
import type { Sql, Transaction } from '@millrace/db';
import { type SqlParser, sortByLayout } from '@millrace/insights';
import { AppError } from '@millrace/runtime';
import type { Static } from 'typebox';
import type { AddressedProject } from '../../access/addressed-store.ts';
import type { Caller } from '../../access/caller.ts';
import { canRestrictDashboard, requireDashboardChange, restrictionLevels } from '../../access/dashboard-restriction.ts';
import { requireReferencedRecords } from '../../access/named-records.ts';
import { hasRecordLevel, requireRecord, requireRecordAccess, toRecordName } from '../../access/record-rights.ts';
import { requireScope } from '../../access/require-scope.ts';
import { lockEnvironment } from '../../sql/lock-environment.ts';
import { refusal, requireMaxSize } from '../insights/rules.ts';
import { findInsights, type InsightRow } from '../insights/store.ts';
import { chooseActivityVerb, createInsight } from '../insights/write.ts';
import { requireUsableFilters, requireValidVariables } from './filters.ts';
import type { dashboardChanges, newDashboard } from './schema.ts';
import {
  type DashboardFields,
  type DashboardRow,
  findDashboard,
  insertDashboard,
  unsetPrimaryDashboard,
  updateDashboard,
} from './store.ts';
import {
  deleteInsightsOnlyOnDashboard,
  insertTile,
  listTiles,
  restoreDashboardInsights,
  type TileRow,
} from './tile-store.ts';
import { changeTiles } from './tiles.ts';

export interface DashboardAuthor extends Pick<Caller, 'userId' | 'scopes'> {
  target: AddressedProject;
}

const defaults: DashboardFields = {
  name: null,
  description: '',
  pinned: false,
  deleted: false,
  creation_mode: 'default',
  filters: {},
  variables: null,
  tags: [],
  restriction_level: restrictionLevels.everybody,
  breakdown_colors: null,
  data_color_theme_id: null,
  quick_filter_ids: null,
};

/** Creates an empty dashboard or a copy of another dashboard. @throws AppError `invalid` naming the field */
export async function createDashboard(
  tx: Transaction,
  { parser, ...author }: DashboardAuthor & { parser: SqlParser },
  body: Static<typeof newDashboard>,
): Promise<DashboardRow> {
  const { environmentId } = author.target;
  const { use_dashboard: sourceId, use_template: template, duplicate_tiles = false, ...changes } = body;
  if (template) {
    if (sourceId) {
      throw new AppError('invalid', '`use_dashboard` and `use_template` cannot be used together', {
        code: 'invalid_input',
      });
    }
    throw refusal('use_template', `Invalid template provided: ${template}`);
  }
  await requireReferencedRecords(tx, author.target, changes.filters);
  const filtering = { projectId: environmentId, attr: 'filters' };
  if (changes.filters) await requireUsableFilters({ sql: tx, parser }, { ...filtering, filters: changes.filters });
  if (changes.variables) await requireValidVariables(tx, { projectId: environmentId, variables: changes.variables });
  await lockEnvironment(tx, environmentId);
  const source = sourceId ? await findDashboard(tx, environmentId, sourceId) : undefined;
  if (sourceId && (!source || source.deleted)) throw refusal('use_dashboard', 'Invalid value provided');
  if (source) requireRecord(author.target.rights, 'dashboard', 'viewer', toRecordName(source));
  if (duplicate_tiles) requireScope(author, 'insight:write');
  const fields = withChanges(source ? copiedFields(source) : defaults, changes);
  const id = await insertDashboard(tx, { environmentId, userId: author.userId }, fields);
  if (source) await copyTiles(tx, author, { from: source.id, to: id, withInsights: duplicate_tiles });
  const after = await writtenDashboard(tx, environmentId, id);
  await recordDashboardActivity(tx, author, { after });
  return after;
}

function copiedFields({
  filters,
  variables,
  breakdown_colors,
  data_color_theme_id,
  quick_filter_ids,
}: DashboardFields) {
  return {
    ...defaults,
    creation_mode: 'duplicate',
    filters,
    variables,
    breakdown_colors,
    data_color_theme_id,
    quick_filter_ids,
  };
}

async function copyTiles(
  tx: Transaction,
  author: DashboardAuthor,
  { from, to, withInsights }: { from: number; to: number; withInsights: boolean },
): Promise<void> {
  const { userId, target } = author;
  const tiles = sortByLayout(await listTiles(tx, from));
  const ids = tiles.flatMap(({ insight_id }) => insight_id ?? []);
  const found = withInsights ? await findInsights(tx, target.environmentId, ids) : [];
  // Insights that the author cannot see are shared instead of copied, so that their access rules still apply.
  const insights = found.filter((one) => hasRecordLevel(target.rights, 'insight', 'viewer', toRecordName(one)));
  for (const tile of tiles) {
    const original = insights.find(({ id }) => id === tile.insight_id);
    const insight_id = original
      ? (await createInsight(tx, { ...author, parser: null }, copyOf(original))).id
      : tile.insight_id;
    await insertTile(tx, { dashboardId: to, userId: tile.body === null ? null : userId }, { ...tile, insight_id });
  }
}

const suffix = ' (Copy)';
const maxNameLength = 400;

function copyOf({ name, derived_name, description, query, tags }: InsightRow) {
  const named = name && `${cutToCodePoints(name, maxNameLength - suffix.length)}${suffix}`;
  return { name: named, derived_name, description, query, tags, saved: true };
}

type Changes = Static<typeof dashboardChanges>;

/** @throws AppError `invalid` naming the field */
function withChanges(
  fields: DashboardFields,
  { delete_insights: _, tiles: __, description, filters, ...changes }: Changes,
): DashboardFields {
  for (const name of ['variables', 'breakdown_colors', 'quick_filter_ids'] as const) {
    if (changes[name]) requireMaxSize(changes[name], name, 'This field');
  }
  if (filters) requireMaxSize(filters, 'filters', 'Filters');
  return {
    ...fieldsOf(fields),
    ...changes,
    description: description === undefined ? fields.description : (description ?? ''),
    filters: filters === undefined ? fields.filters : (filters ?? {}),
  };
}

function fieldsOf(fields: DashboardFields): DashboardFields {
  const names = Object.keys(defaults) as (keyof DashboardFields)[];
  return Object.fromEntries(names.map((name) => [name, fields[name]])) as unknown as DashboardFields;
}

/**
 * Changes only the given fields and tiles. A deleted dashboard keeps its tiles, and shows them again when it is
 * restored.
 * @throws AppError `not_found`, `forbidden` if the caller cannot change the dashboard, or `invalid` naming the field
 */
export async function changeDashboard(
  tx: Transaction,
  { parser, ...author }: DashboardAuthor & { parser: SqlParser },
  { id, changes }: { id: number; changes: Changes },
): Promise<DashboardRow> {
  const { environmentId } = author.target;
  const editor = { ...author.target, userId: author.userId };
  await requireReferencedRecords(tx, author.target, changes.filters, changes.tiles);
  await lockEnvironment(tx, environmentId);
  const before = await findDashboardWithAccess(tx, author.target, { id, needed: 'editor' });
  requireDashboardChange(before, editor);
  // Do not check unchanged filters, because a cohort in them may have been deleted in the meantime.
  if (changes.filters && !isDeepStrictEqual(changes.filters, before.filters))
    await requireUsableFilters(
      { sql: tx, parser },
      { projectId: environmentId, filters: changes.filters, attr: 'filters' },
    );
  if (changes.variables) await requireValidVariables(tx, { projectId: environmentId, variables: changes.variables });
  const fields = withChanges(before, changes);
  if (fields.restriction_level !== before.restriction_level && !canRestrictDashboard(before, editor)) {
    const detail = "Only the dashboard owner and project admins may change the dashboard's restriction level.";
    throw new AppError('forbidden', detail);
  }
  return runAndLogTileChanges(tx, author, before, async () => {
    await updateDashboard(tx, id, fields);
    if (changes.tiles)
      await changeTiles(
        tx,
        { dashboardId: id, projectId: environmentId, userId: author.userId, parser },
        changes.tiles,
      );
    if (fields.deleted !== before.deleted) {
      await followDeletion(tx, author, {
        id,
        isDeleted: fields.deleted,
        withInsights: changes.delete_insights ?? false,
      });
    }
  });
}

/**
 * If the request asks for it, deletes insights that are only on this dashboard together with the dashboard. Restores
 * them when the dashboard is restored.
 */
async function followDeletion(
  tx: Transaction,
  { userId, scopes, target }: DashboardAuthor,
  { id, isDeleted, withInsights }: { id: number; isDeleted: boolean; withInsights: boolean },
): Promise<void> {
  const { organizationId, environmentId } = target;
  const common = { organizationId, environmentId, actor: { userId } };
  const following = isDeleted
    ? withInsights
      ? await deleteInsightsOnlyOnDashboard(tx, id)
      : []
    : await restoreDashboardInsights(tx, id);
  if (following.length > 0 || withInsights) requireScope({ scopes }, 'insight:write');
  const ids = following.map((insight) => insight.id);
  for (const insight of await findInsights(tx, environmentId, ids)) {
    requireRecord(target.rights, 'insight', 'editor', toRecordName(insight));
  }
  for (const insight of following) {
    const about = { itemId: insight.id, name: insight.name, activity: isDeleted ? 'deleted' : 'restored' } as const;
    await recordActivity(tx, { ...common, scope: 'Insight', ...about });
  }
  if (!isDeleted || !(await unsetPrimaryDashboard(tx, environmentId, id))) return;
  const change = { before: { primary_dashboard: id }, after: { primary_dashboard: null } };
  await recordActivity(tx, {
    ...common,
    scope: 'Team',
    itemId: environmentId,
    activity: 'updated',
    name: null,
    change,
  });
}

interface Sought {
  id: number;
  needed: 'viewer' | 'editor';
}

/**
 * Finds a dashboard, including a deleted one, and checks the caller's access level.
 * @throws AppError `not_found` or `forbidden`
 */
async function findDashboardWithAccess(
  sql: Sql,
  { environmentId, rights }: Pick<AddressedProject, 'environmentId' | 'rights'>,
  { id, needed }: Sought,
): Promise<DashboardRow> {
  return requireRecordAccess(rights, { kind: 'dashboard', needed }, await findDashboard(sql, environmentId, id));
}

async function writtenDashboard(tx: Transaction, environmentId: number, id: number): Promise<DashboardRow> {
  const row = await findDashboard(tx, environmentId, id);
  if (!row) throw new Error('The dashboard was written but could not be read back.');
  return row;
}

/** Like `findDashboardWithAccess`, but excludes deleted dashboards. */
export async function requireDashboard(
  sql: Sql,
  target: Pick<AddressedProject, 'environmentId' | 'rights'>,
  sought: Sought,
): Promise<DashboardRow> {
  const row = await findDashboardWithAccess(sql, target, sought);
  if (row.deleted) throw new AppError('not_found', 'Not found.');
  return row;
}

/**
 * Like `requireDashboard`, but also checks that the caller can change the dashboard.
 * @throws AppError `not_found` or `forbidden`
 */
export async function requireChangeableDashboard(
  tx: Transaction,
  { userId, target }: DashboardAuthor,
  id: number,
): Promise<DashboardRow> {
  const row = await requireDashboard(tx, target, { id, needed: 'editor' });
  requireDashboardChange(row, { ...target, userId });
  return row;
}

/** Runs `work` to change a dashboard and its tiles, and logs the changes. @returns the changed dashboard */
export async function runAndLogTileChanges(
  tx: Transaction,
  author: DashboardAuthor,
  before: DashboardRow,
  work: () => Promise<void>,
): Promise<DashboardRow> {
  const tilesBefore = sortByLayout(await listTiles(tx, before.id));
  await work();
  const after = await writtenDashboard(tx, author.target.environmentId, before.id);
  const tilesAfter = sortByLayout(await listTiles(tx, before.id));
  await recordDashboardActivity(tx, author, { before, after, tiles: changedTiles(tilesBefore, tilesAfter) });
  return after;
}

/** Returns only the changed tiles, because a log entry with all tiles would be as large as the dashboard. */
function changedTiles(before: TileRow[], after: TileRow[]) {
  const [was, is] = [texts(before), texts(after)];
  const only = (tiles: TileRow[], those: Map<number, string>, others: Map<number, string>) =>
    tiles.filter(({ id }) => those.get(id) !== others.get(id)).map(visibleTile);
  return { before: only(before, was, is), after: only(after, is, was) };
}

function texts(tiles: TileRow[]): Map<number, string> {
  return new Map(tiles.map((tile) => [tile.id, JSON.stringify(visibleTile(tile))]));
}

function visibleTile({ id, insight_id, body, layouts, color }: TileRow) {
  return { id, insight: insight_id, text: body, layouts, color };
}

async function recordDashboardActivity(
  tx: Sql,
  { userId, target }: DashboardAuthor,
  {
    before,
    after,
    tiles,
  }: { before?: DashboardRow; after: DashboardRow; tiles?: { before: unknown[]; after: unknown[] } },
): Promise<void> {
  const change = before && {
    before: { ...fieldsOf(before), tiles: tiles?.before },
    after: { ...fieldsOf(after), tiles: tiles?.after },
  };
  await recordActivity(tx, {
    organizationId: target.organizationId,
    environmentId: target.environmentId,
    scope: 'Dashboard',
    itemId: after.id,
    activity: chooseActivityVerb(before, after),
    actor: { userId },
    name: after.name,
    ...(change && { change }),
  });
}
