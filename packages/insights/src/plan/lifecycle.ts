// Plans a lifecycle query, which counts new, returning, resurrecting and dormant actors in each interval.

import type { LifecycleStoreQuery } from '../event-store/queries.ts';
import type { EventsNode, LifecycleQuery } from '../query.ts';
import {
  combineConditions,
  createSelection,
  type PlanContext,
  readActorType,
  readNodeFilters,
  readQueryFilters,
  rejectSqlMath,
  resolveQueryRange,
} from './context.ts';
import { addIntervals, type Period, splitIntoBuckets } from './dates.ts';

export interface LifecyclePlan {
  kind: 'LifecycleQuery';
  node: EventsNode;
  period: Period;
  storeQuery: LifecycleStoreQuery;
}

export function planLifecycle(query: LifecycleQuery, context: PlanContext): LifecyclePlan {
  const { interval = 'day' } = query;
  rejectSqlMath(query.series);
  const [node] = query.series;
  if (node === undefined) throw new Error('A lifecycle query has no series.');
  const period = splitIntoBuckets(resolveQueryRange(query, interval, context), interval, context.clock);
  const { edges, end, from } = period;
  const before = addIntervals(interval, edges[0] ?? from, -1, context.clock);
  const where = combineConditions(readQueryFilters(query, context), readNodeFilters(node, 'series.0', context));
  return {
    kind: 'LifecycleQuery',
    node,
    period,
    storeQuery: {
      select: createSelection(node, { where, range: { from: before, to: end }, context }),
      actorType: readActorType(query),
      edges: [before, ...edges, end],
    },
  };
}
