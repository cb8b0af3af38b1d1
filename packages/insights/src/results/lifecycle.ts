import { type LifecycleRow, lifecycleStatuses } from '../event-store/queries.ts';
import type { PlanContext } from '../plan/context.ts';
import type { LifecyclePlan } from '../plan/lifecycle.ts';
import { formatBucketLabels } from './time-labels.ts';

/** Builds one series per lifecycle status. Dormant actors count as negative numbers. */
export function formatLifecycle({ node, period }: LifecyclePlan, rows: LifecycleRow[], context: PlanContext) {
  const name = node.event ?? 'All events';
  const action = {
    id: node.event ?? null,
    name,
    type: 'events',
    order: 0,
    math: 'total',
    ...(node.custom_name !== undefined && { custom_name: node.custom_name }),
  };
  const results = lifecycleStatuses.map((status) => {
    const data = new Array<number>(period.edges.length).fill(0);
    // The first interval that was read precedes the range and is not part of the result.
    for (const row of rows) {
      if (row.status === status && row.bucket >= 1 && row.bucket <= data.length)
        data[row.bucket - 1] = status === 'dormant' ? -row.count : row.count;
    }
    const count = data.reduce((sum, number) => sum + number, 0);
    return { action, data, count, ...formatBucketLabels(period, context.clock), label: `${name} - ${status}`, status };
  });
  return { results };
}
