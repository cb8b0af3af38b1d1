import type { Query } from '../query.ts';
import { planActors } from './actors.ts';
import type { PlanContext } from './context.ts';
import { planEvents } from './events.ts';
import { planFunnel } from './funnel.ts';
import { planLifecycle } from './lifecycle.ts';
import { planRetention } from './retention.ts';
import { planTrends } from './trends.ts';
import { planWeb } from './web.ts';

export function planQuery(query: Query, context: PlanContext): unknown {
  switch (query.kind) {
    case 'TrendsQuery':
      return planTrends(query, context);
    case 'FunnelsQuery':
      return planFunnel(query, context);
    case 'RetentionQuery':
      return planRetention(query, context);
    case 'LifecycleQuery':
      return planLifecycle(query, context);
    case 'ActorsQuery':
      return planActors(query, context);
    case 'EventsQuery':
      return planEvents(query, context);
    case 'WebOverviewQuery':
    case 'WebStatsTableQuery':
    case 'WebTrendsQuery':
      return planWeb(query, context);
    // SQL queries have no plan.
    case 'HogQLQuery':
    case 'HogQLMetadata':
    case 'DatabaseSchemaQuery':
      return query;
    default:
      return query satisfies never;
  }
}
