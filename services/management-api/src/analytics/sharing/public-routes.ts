import { isObject } from '@millrace/contracts';
import type { Sql } from '@millrace/db';
import { WithHeaders } from '@millrace/http';
import { buildTileQuery } from '@millrace/insights';
import { AppError, limitConcurrency } from '@millrace/runtime';
import { LRUCache } from 'lru-cache';
import { defineRoute } from '../../access/define-route.ts';
import { hasRecordLevel, toRecordName } from '../../access/record-rights.ts';
import { findDashboard } from '../dashboards/store.ts';
import { type InsightResult, runInsight } from '../insights/result.ts';
import { findInsights, type InsightRow } from '../insights/store.ts';
import type { QueryRunner } from '../query/query-runner.ts';
import { type LinkLimits, type OpenLink, openPublicLink } from './public-link.ts';
import {
  linkParams,
  type SharedStatus,
  type SharedTypes,
  sharedInsight,
  sharedInsightExample,
  sharedPage,
  sharedPageExample,
  tileParams,
} from './public-schema.ts';
import { isClosedQuery, toPublicQuery, toPublicResult } from './public-shape.ts';
import { sharingTags as tags } from './schema.ts';
import { listShownTiles } from './write.ts';

export interface PublicRouteDeps {
  sql: Sql;
  queryRunner: QueryRunner;
  linkLimits: LinkLimits;
}

/** Prevents search engines from indexing shared data. */
const unlisted = { 'X-Robots-Tag': 'noindex' };

/** Declares the routes that return a shared page's data (docs/api/sharing.md#what-a-visitor-sees). */
export function publicLinkRoutes({ sql, queryRunner, linkLimits: limits }: PublicRouteDeps) {
  const load = createLoader(queryRunner, limits);
  return [
    defineRoute({
      method: 'GET',
      path: '/api/shared/:access_token',
      operationId: 'shared_retrieve',
      summary: 'Show what a public link shares',
      description:
        'Returns the tiles behind a public link, without their results. The request requires no authentication. A link that was ' +
        'turned off or replaced returns 404, and so does every other token that does not work.',
      tags,
      scope: 'public',
      params: linkParams,
      responses: { 200: { description: 'The shared page.', schema: sharedPage } },
      examples: { response: sharedPageExample },
      target: ({ params, request }) => openPublicLink({ sql, limits }, params.access_token, request),
      handler: async ({ target: link }) => {
        const { record, settings, timezone } = link;
        const { name, description, tiles } = await readTiles(sql, link);
        const page = {
          type: record.kind,
          name: settings.noHeader ? null : name,
          description: settings.noHeader ? '' : description,
          timezone,
          theme: settings.theme ?? 'system',
          tiles: tiles.map(({ text, insight, layouts }) => ({
            text,
            name: insight && (insight.name ?? insight.derived_name),
            layouts,
          })),
        };
        return new WithHeaders(page, unlisted);
      },
    }),
    defineRoute({
      method: 'GET',
      path: '/api/shared/:access_token/tiles/:at',
      operationId: 'shared_tiles_retrieve',
      summary: 'Show the numbers of a tile behind a public link',
      description:
        'Returns the result of one insight. It is computed only if the cached result is older than the insight allows. The ' +
        'request requires no authentication.',
      tags,
      scope: 'public',
      params: tileParams,
      responses: { 200: { description: 'The numbers of the tile.', schema: sharedInsight } },
      examples: { response: sharedInsightExample },
      target: ({ params, request }) => openPublicLink({ sql, limits }, params.access_token, request),
      handler: async ({ target: link, params: { at } }) => {
        const tile = (await readTiles(sql, link)).tiles[at];
        if (tile === undefined || tile.text !== null) throw new AppError('not_found', 'Not found.');
        return new WithHeaders(await showInsight(load, link, tile.insight), unlisted);
      },
    }),
  ];
}

interface OpenTile {
  /** The tile's text, or null for an insight. */
  text: string | null;
  /** The insight with its tile's filters, or null if visitors must not see the insight. */
  insight: InsightRow | null;
  layouts: Record<string, unknown>;
}

/** Reads a dashboard's tiles. A shared insight is returned as a single tile. */
async function readTiles(
  sql: Sql,
  link: OpenLink,
): Promise<{ name: string | null; description: string; tiles: OpenTile[] }> {
  const { record, environmentId, rights } = link;
  const dashboard = record.kind === 'dashboard' ? await findDashboard(sql, environmentId, record.id) : undefined;
  const placed = dashboard ? await listShownTiles(sql, dashboard.id) : [];
  const ids = dashboard ? placed.flatMap(({ insight_id: id }) => id ?? []) : [record.id];
  const insights = (await findInsights(sql, environmentId, ids)).filter(
    (one) => !one.deleted && hasRecordLevel(rights, 'insight', 'viewer', toRecordName(one)),
  );
  if (dashboard === undefined) {
    const [insight = null] = insights;
    const name = insight && (insight.name ?? insight.derived_name);
    return { name, description: insight?.description ?? '', tiles: [{ text: null, insight, layouts: {} }] };
  }
  const tiles = placed.map((tile): OpenTile => {
    const { body: text, layouts, filters_overrides: own } = tile;
    const found = insights.find(({ id }) => id === tile.insight_id);
    const { filters: ofDashboard, variables } = dashboard;
    const query = found && (buildTileQuery(found.query, { own, ofDashboard, variables }) as InsightRow['query']);
    const { w, h } = isObject(layouts.sm) ? layouts.sm : {};
    return { text, insight: found && query !== undefined ? { ...found, query } : null, layouts: { sm: { w, h } } };
  });
  return { name: dashboard.name, description: dashboard.description, tiles };
}

type Load = ReturnType<typeof createLoader>;

async function showInsight(load: Load, link: OpenLink, insight: InsightRow | null) {
  const hidden = {
    status: 'hidden' as const,
    query: null,
    result: null,
    columns: null,
    types: null,
    last_refresh: null,
  };
  if (insight === null) return { ...hidden, name: null };
  const name = insight.name ?? insight.derived_name;
  if (isClosedQuery(insight.query)) return { ...hidden, name };
  const { status, result } = await load(link, insight);
  return {
    status,
    name,
    query: toPublicQuery(insight.query),
    result: toPublicResult(insight.query, result?.result ?? null),
    columns: (result?.columns as string[] | null | undefined) ?? null,
    types: (result?.types as SharedTypes | null | undefined) ?? null,
    last_refresh: result?.last_refresh ?? null,
  };
}

/**
 * Creates a function that loads results from the cache, and computes stale results again. Each project has only one
 * computation at a time. The number of computations per minute is limited for each insight of a link.
 */
function createLoader(queryRunner: QueryRunner, limits: LinkLimits) {
  const slots = new LRUCache<number, ReturnType<typeof limitConcurrency>>({ max: 1000 });
  const slotOf = (environmentId: number) => {
    const slot = slots.get(environmentId) ?? limitConcurrency(1);
    slots.set(environmentId, slot);
    return slot;
  };
  return async (link: OpenLink, insight: InsightRow): Promise<{ status: SharedStatus; result?: InsightResult }> => {
    // Visitors do not have a key, so their searches count against the link's limit.
    const target = { ...link, level: 0 };
    const queryCaller = { caller: { credential: { kind: 'link', id: String(link.id) } as const }, target };
    // The computation continues when the visitor leaves the page. If it were aborted, each visit could start it again.
    const { signal } = new AbortController();
    const runMode = async (refresh: 'force_cache' | 'blocking') => {
      const result = await runInsight(queryRunner, queryCaller, insight, { refresh, signal });
      return result && result.last_refresh !== null ? result : undefined;
    };
    try {
      const cached = await runMode('force_cache');
      const isFresh = cached?.cache_target_age != null && Date.parse(cached.cache_target_age) > Date.now();
      if (cached && isFresh) return { status: 'ready', result: cached };
      if (insight.query === null) return { status: 'ready' };
      const wait = await limits.computations.take(`${link.id}:${insight.id}`);
      if (wait !== null) return cached ? { status: 'ready', result: cached } : { status: 'pending' };
      const computed = await slotOf(link.environmentId)(() => runMode('blocking'));
      return computed ? { status: 'ready', result: computed } : { status: 'pending' };
    } catch (error) {
      if (!(error instanceof AppError)) throw error;
      if (error.kind === 'rate_limited' || error.kind === 'unavailable') return { status: 'pending' };
      if (error.kind === 'invalid' || error.kind === 'forbidden') return { status: 'failed' };
      throw error;
    }
  };
}
