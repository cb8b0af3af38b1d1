import type { Database } from '@millrace/db';
import { AppError } from '@millrace/runtime';
import { Type } from 'typebox';
import { environmentBasePaths } from '../../access/addressed-project.ts';
import { defineRoutes } from '../../access/define-route.ts';
import { createVisibilityCheck, hasRecordLevel, toRecordName } from '../../access/record-rights.ts';
import { embeddedUser, embeddedUserExample } from '../../identity/embedded-users/embedded-user.ts';
import { insightConditions } from './list-query.ts';
import { insight, insightExample, insightParams, insightsPath, insightTags as tags } from './schema.ts';
import { toInsight } from './show.ts';
import { listLastViewedInsights, listTrending, recordInsightViews } from './store.ts';
import { requireInsight } from './write.ts';

/** The number of insights that `my_last_viewed` returns. */
const shown = 5;

const viewedInsights = Type.Object(
  {
    insight_ids: Type.Array(Type.Integer({ minimum: 1, maximum: 2_147_483_647 }), {
      maxItems: 2500,
      description: 'IDs of insights. Insights that do not exist, or that the caller cannot access, are ignored.',
    }),
  },
  { title: 'ViewedInsights' },
);

/** Maximum number of viewers that `trending` returns per insight. */
const maxViewers = 10;

const trendingInsight = Type.Object(
  {
    ...insight.properties,
    viewers: Type.Array(embeddedUser, {
      description: `Users who viewed the insight, most recent first, at most ${maxViewers}.`,
    }),
  },
  { title: 'TrendingInsight' },
);

/** Declares the routes that record and list insight views. The scope insight:read suffices to record a view. */
export function viewedRoutes({ sql }: Pick<Database, 'sql'>) {
  const below = environmentBasePaths(sql);
  return [
    ...defineRoutes({
      method: 'GET',
      below,
      path: `${insightsPath}/my_last_viewed`,
      operationId: 'insights_my_last_viewed',
      summary: 'List the insights that you viewed last',
      description: 'Returns the five insights that the caller viewed last, most recent first.',
      tags,
      scope: 'insight:read',
      responses: { 200: { description: 'The insights.', schema: Type.Array(insight) } },
      examples: { response: [insightExample] },
      handler: async ({ caller: { userId }, target }) => {
        const rows = await listLastViewedInsights(sql, { environmentId: target.environmentId, userId }, shown);
        return rows
          .filter((row) => hasRecordLevel(target.rights, 'insight', 'viewer', toRecordName(row)))
          .map((row) => toInsight(row, { ...target, userId }));
      },
    }),
    ...defineRoutes({
      method: 'GET',
      below,
      path: `${insightsPath}/trending`,
      operationId: 'insights_trending',
      summary: 'List trending insights',
      description:
        'Returns the insights that were viewed by the most users in the last `days` days, most viewed first.',
      tags,
      scope: 'insight:read',
      query: Type.Object({
        days: Type.Optional(
          Type.Integer({ minimum: 1, maximum: 365, description: 'Number of days to look back. Defaults to 7.' }),
        ),
        limit: Type.Optional(
          Type.Integer({ minimum: 1, maximum: 100, description: 'Maximum number of insights. Defaults to 10.' }),
        ),
      }),
      responses: { 200: { description: 'The trending insights.', schema: Type.Array(trendingInsight) } },
      examples: { response: [{ ...insightExample, viewers: [embeddedUserExample] }] },
      handler: async ({ caller: { userId }, target, query: { days = 7, limit = 10 } }) => {
        const where = insightConditions(target, { userId }, {});
        const since = new Date(Date.now() - days * 86_400_000);
        const rows = await listTrending(sql, where, { since, limit, viewers: maxViewers });
        return rows.map(({ viewers, ...row }) => ({ ...toInsight(row, { ...target, userId }), viewers }));
      },
    }),
    ...defineRoutes({
      method: 'POST',
      below,
      path: `${insightsPath}/viewed`,
      operationId: 'insights_viewed',
      summary: 'Mark insights as viewed',
      description: 'Records that the caller has just viewed these insights.',
      tags,
      scope: 'insight:read',
      body: viewedInsights,
      responses: { 201: { description: 'The view was recorded.' } },
      examples: { request: { insight_ids: [7] } },
      handler: async ({ caller: { userId }, target: { environmentId, rights }, body }) => {
        const isSeen = await createVisibilityCheck(sql, rights, { environmentId, kind: 'insight' });
        const ids = body.insight_ids.filter((id) => isSeen({ id }));
        await recordInsightViews(sql, { environmentId, userId }, ids);
        return undefined;
      },
    }),
    ...defineRoutes({
      method: 'POST',
      below,
      path: `${insightsPath}/:id/viewed`,
      operationId: 'insights_viewed_one',
      summary: 'Mark an insight as viewed',
      description: 'Records that the caller has just viewed this insight.',
      tags,
      scope: 'insight:read',
      params: insightParams,
      responses: { 201: { description: 'The view was recorded.' } },
      handler: async ({ caller: { userId }, target, params: { id } }) => {
        const row = await requireInsight(sql, target, { name: id, needed: 'viewer' });
        if (row.deleted) throw new AppError('not_found', 'Not found.');
        await recordInsightViews(sql, { environmentId: target.environmentId, userId }, [row.id]);
        return undefined;
      },
    }),
  ];
}
