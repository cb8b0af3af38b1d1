import type { LifecycleQuestion } from '../event-store/queries.ts';
import type { EventsNode, LifecycleQuery } from '../query.ts';
import {
  both,
  filtersOfNode,
  filtersOfQuery,
  type PlanContext,
  rangeOfQuery,
  refuseSqlMath,
  selectionOf,
  unitOfQuery,
} from './context.ts';
import { bucketsOf, later, type Period } from './dates.ts';

export interface LifecyclePlan {
  kind: 'LifecycleQuery';
  node: EventsNode;
  period: Period;
  question: LifecycleQuestion;
}

export function planLifecycle(query: LifecycleQuery, context: PlanContext): LifecyclePlan {
  const { interval = 'day' } = query;
  refuseSqlMath(query.series);
  const [node] = query.series;
  if (node === undefined) throw new Error('A lifecycle query has no series.');
  const period = bucketsOf(rangeOfQuery(query, interval, context), interval, context.clock);
  const { edges, end, from } = period;
  const before = later(interval, edges[0] ?? from, -1, context.clock);
  const where = both(filtersOfQuery(query, context), filtersOfNode(node, 'series.0', context));
  return {
    kind: 'LifecycleQuery',
    ...{ node, period },
    question: {
      select: selectionOf(node, { where, range: { from: before, to: end }, context }),
      unit: unitOfQuery(query),
      edges: [before, ...edges, end],
    },
  };
}
