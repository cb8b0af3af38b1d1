import type { Database } from '@millrace/db';
import { AppError } from '@millrace/runtime';
import { Type } from 'typebox';
import { belowEnvironment } from '../../access/addressed-project.ts';
import { defineRoutes } from '../../access/define-route.ts';
import { mayDo, nameOf, sightOf } from '../../access/record-rights.ts';
import { embeddedUser, embeddedUserExample } from '../embedded-users/embedded-user.ts';
import { insightConditions } from './list-query.ts';
import { insight, insightExample, insightParams, insightsPath, insightTags as tags } from './schema.ts';
import { toInsight } from './show.ts';
import { listLastViewed, listTrending, noteViews } from './store.ts';
import { foundInsight } from './write.ts';

/** What `my_last_viewed` shows. */
const shown = 5;

const viewedInsights = Type.Object(
  {
    insight_ids: Type.Array(Type.Integer({ minimum: 1, maximum: 2_147_483_647 }), {
      maxItems: 2500,
      description: 'Numbers of insights. Unknown ones, and those that are closed to the caller, are left out.',
    }),
  },
  { title: 'ViewedInsights' },
);

/** Of how many viewers of an insight `trending` says who they are. */
const mostViewers = 10;

const trendingInsight = Type.Object(
  {
    ...insight.properties,
    viewers: Type.Array(embeddedUser, { description: `Who opened it, the latest first; ${mostViewers} at most.` }),
  },
  { title: 'TrendingInsight' },
);

/** Who opened which insight last. Reading is enough to say that one has read. */
export function viewedRoutes({ sql }: Pick<Database, 'sql'>) {
  const below = belowEnvironment(sql);
  return [
    ...defineRoutes({
      method: 'GET',
      below,
      path: `${insightsPath}/my_last_viewed`,
      operationId: 'insights_my_last_viewed',
      summary: 'List the insights the caller opened last',
      description: 'The five insights that the caller opened last, the latest first.',
      tags,
      scope: 'insight:read',
      responses: { 200: { description: 'The insights.', schema: Type.Array(insight) } },
      examples: { response: [insightExample] },
      handler: async ({ caller: { userId }, target }) => {
        const rows = await listLastViewed(sql, { environmentId: target.environmentId, userId }, shown);
        return rows
          .filter((row) => mayDo(target.rights, 'insight', 'viewer', nameOf(row)))
          .map((row) => toInsight(row, { ...target, userId }));
      },
    }),
    ...defineRoutes({
      method: 'GET',
      below,
      path: `${insightsPath}/trending`,
      operationId: 'insights_trending',
      summary: 'List the insights that most people opened',
      description: 'Of the last days, those that most people opened come first.',
      tags,
      scope: 'insight:read',
      query: Type.Object({
        days: Type.Optional(
          Type.Integer({ minimum: 1, maximum: 365, description: 'So many days back; 7 by default.' }),
        ),
        limit: Type.Optional(
          Type.Integer({ minimum: 1, maximum: 100, description: 'At most so many; 10 by default.' }),
        ),
      }),
      responses: { 200: { description: 'The insights.', schema: Type.Array(trendingInsight) } },
      examples: { response: [{ ...insightExample, viewers: [embeddedUserExample] }] },
      handler: async ({ caller: { userId }, target, query: { days = 7, limit = 10 } }) => {
        const where = insightConditions(target, { userId }, {});
        const since = new Date(Date.now() - days * 86_400_000);
        const rows = await listTrending(sql, where, { since, limit, viewers: mostViewers });
        return rows.map(({ viewers, ...row }) => ({ ...toInsight(row, { ...target, userId }), viewers }));
      },
    }),
    ...defineRoutes({
      method: 'POST',
      below,
      path: `${insightsPath}/viewed`,
      operationId: 'insights_viewed',
      summary: 'Note that insights were opened',
      description: 'Notes that the caller has opened these insights just now.',
      tags,
      scope: 'insight:read',
      body: viewedInsights,
      responses: { 201: { description: 'It is noted.' } },
      examples: { request: { insight_ids: [7] } },
      handler: async ({ caller: { userId }, target: { environmentId, rights }, body }) => {
        const isSeen = await sightOf(sql, rights, { environmentId, kind: 'insight' });
        const ids = body.insight_ids.filter((id) => isSeen({ id }));
        await noteViews(sql, { environmentId, userId }, ids);
        return undefined;
      },
    }),
    ...defineRoutes({
      method: 'POST',
      below,
      path: `${insightsPath}/:id/viewed`,
      operationId: 'insights_viewed_one',
      summary: 'Note that an insight was opened',
      description: 'Notes that the caller has opened this insight just now.',
      tags,
      scope: 'insight:read',
      params: insightParams,
      responses: { 201: { description: 'It is noted.' } },
      handler: async ({ caller: { userId }, target, params: { id } }) => {
        const row = await foundInsight(sql, target, { name: id, needed: 'viewer' });
        if (row.deleted) throw new AppError('not_found', 'Not found.');
        await noteViews(sql, { environmentId: target.environmentId, userId }, [row.id]);
        return undefined;
      },
    }),
  ];
}
