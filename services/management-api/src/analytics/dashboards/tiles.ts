// Rules for adding, changing, moving and arranging a dashboard's tiles.

import { isDeepStrictEqual } from 'node:util';
import { isObject } from '@millrace/contracts';
import type { Transaction } from '@millrace/db';
import { type SqlParser, sortByLayout } from '@millrace/insights';
import { AppError } from '@millrace/runtime';
import type { Static } from 'typebox';
import type { AddressedProject } from '../../access/addressed-store.ts';
import { requireRecord, toRecordName } from '../../access/record-rights.ts';
import { refusal, requireMaxSize } from '../insights/rules.ts';
import { findInsights } from '../insights/store.ts';
import { requireTileSpace } from '../insights/write.ts';
import { requireUsableFilters } from './filters.ts';
import type { dashboardChanges } from './schema.ts';
import { insertTile, listTiles, type TileFields, type TileRow, updateTile, updateTileDashboard } from './tile-store.ts';

type TileChanges = NonNullable<Static<typeof dashboardChanges>['tiles']>[number];

interface Place {
  dashboardId: number;
  projectId: number;
  userId: number;
}

interface CheckedPlace extends Place {
  parser: SqlParser;
}

/**
 * Checks a tile's filters only if they changed, because a cohort in stored filters may have been deleted in the
 * meantime.
 */
async function checkOverrides(
  tx: Transaction,
  { projectId, parser }: CheckedPlace,
  {
    attr,
    overrides,
    before,
  }: { attr: string; overrides: TileChanges['filters_overrides']; before?: TileRow | undefined },
): Promise<void> {
  if (!overrides || isDeepStrictEqual(overrides, before?.filters_overrides)) return;
  const place = `${attr}__filters_overrides`;
  requireMaxSize(overrides, place, 'Filters');
  await requireUsableFilters({ sql: tx, parser }, { projectId, filters: overrides, attr: place });
}

/**
 * Adds text tiles and changes tiles. Tiles and fields that the client did not send stay unchanged.
 * @throws AppError `invalid` naming the tile and its field
 */
export async function changeTiles(
  tx: Transaction,
  place: CheckedPlace,
  changes: readonly TileChanges[],
): Promise<void> {
  const before = new Map((await listTiles(tx, place.dashboardId)).map((tile) => [tile.id, tile]));
  for (const [index, change] of changes.entries()) {
    const attr = `tiles__${index}`;
    const body = bodyOf(change, attr);
    if (change.layouts) requireMaxSize(change.layouts, `${attr}__layouts`, 'A layout');
    await checkOverrides(tx, place, { attr, overrides: change.filters_overrides, before: before.get(change.id ?? 0) });
    if (change.id === undefined || change.id === null) {
      if (body === undefined) {
        throw refusal(
          `${attr}__id`,
          'Only text tiles can be added here. To add an insight, set `dashboards` on the insight.',
          'required',
        );
      }
      await insertTile(tx, place, withChanges(newText, change, body));
      continue;
    }
    const tile = before.get(change.id);
    if (tile === undefined) {
      throw refusal(`${attr}__id`, `Invalid pk "${change.id}" - object does not exist.`, 'does_not_exist');
    }
    if (tile.insight_id !== null && body !== undefined) {
      throw refusal(`${attr}__text`, 'This tile shows an insight, so it cannot contain text.');
    }
    const userId = body === undefined || body === tile.body ? null : place.userId;
    await updateTile(tx, { id: tile.id, userId }, withChanges(tile, change, body));
  }
  const after = await listTiles(tx, place.dashboardId);
  requireTileSpace({ id: place.dashboardId, tiles: sortByLayout(after).length }, 0);
}

const newText: TileFields = {
  insight_id: null,
  body: '',
  deleted: false,
  layouts: {},
  color: null,
  filters_overrides: null,
  show_description: null,
  transparent_background: null,
};

function withChanges(
  tile: TileFields,
  { id: _, text: __, layouts, ...changes }: TileChanges,
  body?: string,
): TileFields {
  return {
    ...tile,
    ...changes,
    layouts: layouts === undefined ? tile.layouts : (layouts ?? {}),
    body: body ?? tile.body,
  };
}

const maxCharacters = 4000;

/** Returns a tile's text exactly as the client sent it. Undefined if the client did not send a text. */
function bodyOf({ text }: TileChanges, attr: string): string | undefined {
  if (text === undefined || text === null) return undefined;
  const { body } = text;
  if (typeof body !== 'string') throw refusal(`${attr}__text__body`, 'This field is required.', 'required');
  if ([...body].length > maxCharacters) {
    throw refusal(`${attr}__text__body`, `Text body cannot exceed ${maxCharacters} characters`, 'max_length');
  }
  return body;
}

interface TileTransfer {
  from: number;
  to: number;
  tileId: number;
  target: Pick<AddressedProject, 'environmentId' | 'rights'>;
}

/**
 * Finds the tile to move or copy. The caller must be able to see the tile's insight, because the target dashboard may
 * be shared with a public link.
 * @throws AppError `not_found` or `forbidden`.
 */
async function transferredTile(tx: Transaction, { from, tileId, target }: TileTransfer): Promise<TileRow> {
  const tile = sortByLayout(await listTiles(tx, from)).find((one) => one.id === tileId);
  if (tile === undefined) throw new AppError('not_found', 'Not found.');
  const [insight] = await findInsights(tx, target.environmentId, tile.insight_id === null ? [] : [tile.insight_id]);
  if (insight) requireRecord(target.rights, 'insight', 'viewer', toRecordName(insight));
  return tile;
}

/** @throws AppError `not_found`, or `invalid` if the target dashboard already has the insight */
export async function moveTileToDashboard(tx: Transaction, transfer: TileTransfer): Promise<void> {
  const tile = await transferredTile(tx, transfer);
  await requirePlaceFor(tx, tile, transfer.to);
  await updateTileDashboard(tx, tile, transfer.to);
}

/**
 * Like `moveTileToDashboard`, but keeps the original tile. Both dashboards share the tile's insight. A tile's text is
 * copied.
 */
export async function copyTile(tx: Transaction, transfer: TileTransfer, { userId }: { userId: number }): Promise<void> {
  const { to } = transfer;
  const tile = await transferredTile(tx, transfer);
  const former = await requirePlaceFor(tx, tile, to);
  if (former) await updateTile(tx, { id: former.id, userId: null }, tile);
  else await insertTile(tx, { dashboardId: to, userId: tile.body === null ? null : userId }, tile);
}

/**
 * Checks that a tile can be added to a dashboard.
 * @returns the dashboard's deleted tile with the same insight, if any
 * @throws AppError `invalid`
 */
async function requirePlaceFor(tx: Transaction, tile: TileRow, dashboardId: number): Promise<TileRow | undefined> {
  const there = await listTiles(tx, dashboardId);
  requireTileSpace({ id: dashboardId, tiles: sortByLayout(there).length });
  const same = there.find(({ insight_id }) => insight_id !== null && insight_id === tile.insight_id);
  if (same && !same.deleted) {
    throw new AppError('invalid', 'The insight is already on this dashboard.', { code: 'invalid_input' });
  }
  return same;
}

const columns = 12;
const usualSize = { w: 6, h: 5 };

/**
 * Arranges all tiles row by row without overlaps. The tiles in `order` come first, followed by all other tiles in their
 * current order. Every tile keeps its size.
 * @throws AppError `invalid` naming the list, or `not_found` for a tile of another dashboard
 */
export async function reorderTiles(tx: Transaction, dashboardId: number, order: readonly number[]): Promise<void> {
  if (new Set(order).size < order.length) throw refusal('tile_order', 'Each tile can be listed only once.');
  const tiles = sortByLayout(await listTiles(tx, dashboardId));
  const byId = new Map(tiles.map((tile) => [tile.id, tile]));
  const named = order.flatMap((id) => byId.get(id) ?? []);
  if (named.length < order.length) throw new AppError('not_found', 'Not found.');
  if (named.length === 0) return;
  let narrowY = 0;
  let [x, y, height] = [0, 0, 0];
  for (const tile of [...named, ...tiles.filter((one) => !named.includes(one))]) {
    const { w, h } = sizeOf(tile);
    if (x + w > columns) [x, y, height] = [0, y + height, 0];
    const { sm, xs } = tile.layouts;
    const narrow = isObject(xs) ? { xs: { ...xs, x: 0, y: narrowY } } : {};
    const layouts = { ...tile.layouts, sm: { ...(isObject(sm) && sm), x, y, w, h }, ...narrow };
    await updateTile(tx, { id: tile.id, userId: null }, { ...tile, layouts });
    narrowY += isObject(xs) && typeof xs.h === 'number' ? xs.h : h;
    x += w;
    height = Math.max(height, h);
  }
}

function sizeOf({ layouts: { sm } }: TileFields): { w: number; h: number } {
  const { w, h } = isObject(sm) ? sm : {};
  const isSize = (value: unknown): value is number => typeof value === 'number' && Number.isInteger(value) && value > 0;
  return { w: isSize(w) ? Math.min(w, columns) : usualSize.w, h: isSize(h) ? h : usualSize.h };
}
