import { otherLabel } from '../breakdown-labels.ts';
import type { RetentionRow } from '../event-store/queries.ts';
import type { PlanContext } from '../plan/context.ts';
import type { RetentionPlan } from '../plan/retention.ts';
import { formatIso } from './time-labels.ts';
import { formatBreakdownValue } from './trends.ts';

/**
 * Builds one table per breakdown value, the largest first. Each row describes the actors that started in an interval.
 */
export function formatRetention(plan: RetentionPlan, rows: RetentionRow[], context: PlanContext) {
  const { breakdowns } = plan.breakdown;
  if (breakdowns.length === 0) return { results: tableOf(plan, rows, { value: null, context }) };
  const byValue = new Map<string, RetentionRow[]>();
  for (const row of rows) {
    const value = row.values.map((one) => (one === null ? '' : formatBreakdownValue(one, null))).join('::');
    byValue.set(value, [...(byValue.get(value) ?? []), row]);
  }
  const size = (some: RetentionRow[]) => some.reduce((sum, { column, count }) => sum + (column === 0 ? count : 0), 0);
  const inOrder = [...byValue]
    .map(([value, some]) => ({ value, rows: some, size: size(some) }))
    .sort((a, b) => b.size - a.size || (a.value < b.value ? -1 : 1));
  const kept = inOrder.slice(0, plan.breakdown.limit);
  const others = inOrder.slice(plan.breakdown.limit).flatMap((one) => one.rows);
  const all = others.length === 0 || plan.breakdown.hidesOther ? kept : [...kept, { value: otherLabel, rows: others }];
  return { results: all.flatMap(({ value, rows: some }) => tableOf(plan, some, { value, context })) };
}

function tableOf(
  plan: RetentionPlan,
  rows: RetentionRow[],
  { value, context }: { value: string | null; context: PlanContext },
) {
  const { edges } = plan.storeQuery;
  const last = plan.columns.length - 1;
  const counts = edges.map(() => new Array<number>(last + 1).fill(0));
  const numbers = edges.map(() => new Array<number>(last + 1).fill(0));
  const add = (table: number[][], row: number, at: number, more: number) => {
    const cells = table[row];
    if (cells !== undefined) cells[at] = (cells[at] ?? 0) + more;
  };
  for (const { row, column, count, total, valueCount: summed } of rows) {
    // In a cumulative table, an actor also counts for all intervals before its last return.
    const first = plan.isCumulative && column > 0 ? 1 : column;
    for (let at = first; at <= Math.min(column, last); at++) {
      add(counts, row, at, plan.shows === 'count' ? count : total);
      add(numbers, row, at, summed);
    }
  }
  const shown = (sum: number, row: number, at: number) =>
    plan.shows === 'avg' ? sum / (numbers[row]?.[at] || 1) : sum;
  return edges.map((edge, row) => ({
    values: (counts[row] ?? []).map((sum, at) => ({ count: shown(sum, row, at), label: plan.columns[at] })),
    label: `${plan.period} ${row}`,
    date: formatIso(edge, context.clock),
    breakdown_value: value,
  }));
}
