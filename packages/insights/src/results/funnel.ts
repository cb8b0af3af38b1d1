// Computes a funnel's steps, times and trends from the walks of all actors.

import type { Budget, EventStore } from '../event-store/port.ts';
import type { FunnelEvent, FunnelPath } from '../event-store/queries.ts';
import type { FunnelEntrances, FunnelSteps, FunnelTotals } from '../event-store/walked-funnel.ts';
import type { PlanContext } from '../plan/context.ts';
import type { FunnelPlan } from '../plan/funnel.ts';
import { type FunnelProgress, findFunnelProgress, type WalkRules } from './funnel-walk.ts';
import { formatBucketLabels } from './time-labels.ts';
import { formatBreakdownValue } from './trends.ts';

/** An actor's progress for one breakdown value. */
export interface FunnelOutcome extends FunnelProgress {
  /** Breakdown values. An empty string represents a missing value. */
  values: string[];
}

const rulesOf = ({ order, windowMs, exclusions, optional, series }: FunnelPlan): WalkRules => ({
  order,
  windowMs,
  exclusions,
  optional,
  steps: series.length,
});

/**
 * Returns one outcome per breakdown value of the actor, or a single outcome without a breakdown. Omits outcomes without
 * progress.
 */
export function findOutcomes(plan: FunnelPlan, actor: FunnelPath, rules: WalkRules = rulesOf(plan)): FunnelOutcome[] {
  return partsOf(plan, actor)
    .map(({ values, events }) => ({ values, ...findFunnelProgress(events, rules) }))
    .filter(({ reached }) => reached > 0);
}

/** Returns the actor's events for each breakdown value. */
function partsOf(
  { attribution, breakdown }: FunnelPlan,
  { events }: FunnelPath,
): { values: string[]; events: FunnelEvent[] }[] {
  if (breakdown.breakdowns.length === 0) return [{ values: [], events }];
  const shown = events.map(({ values }) =>
    values.map((value) => (value === null ? '' : formatBreakdownValue(value, null))),
  );
  const none = breakdown.breakdowns.map(() => '');
  const distinct = (lists: string[][]) => [...new Map(lists.map((list) => [JSON.stringify(list), list])).values()];
  const isSame = (a: string[] | undefined, b: string[]) => JSON.stringify(a) === JSON.stringify(b);
  switch (attribution.by) {
    case 'first_touch':
    case 'last_touch': {
      const matters = shown.filter((list, at) => {
        const event = events[at];
        return (
          event !== undefined && (event.steps !== 0 || event.exclusions !== 0) && list.some((value) => value !== '')
        );
      });
      return [{ values: (attribution.by === 'first_touch' ? matters.at(0) : matters.at(-1)) ?? none, events }];
    }
    case 'all_events':
      return distinct(shown).map((values) => ({ values, events: events.filter((_, at) => isSame(shown[at], values)) }));
    case 'step': {
      const bit = (1 << attribution.step) >>> 0;
      const isStep = (steps: number) => (steps & bit) !== 0;
      return distinct(shown.filter((_, at) => isStep(events[at]?.steps ?? 0))).map((values) => ({
        values,
        events: events.map((event, at) =>
          isSame(shown[at], values) ? event : { ...event, steps: (event.steps & ~bit) >>> 0 },
        ),
      }));
    }
    default:
      return attribution satisfies never;
  }
}

/** Reads and walks through actors' paths, for engines that cannot compute the funnel. */
export async function computeFunnelTotals(events: EventStore, plan: FunnelPlan, run: Budget): Promise<FunnelTotals> {
  const { add, totals } = createFunnelTotals(plan);
  // Trends and exclusions depend on individual events, so even actors that reached only the first step are read one by
  // one.
  if (plan.shows === 'trends' || plan.exclusions.length > 0)
    await events.funnel(plan.storeQuery, run, (actor) => add(actor, 1));
  else await events.funnelPaths(plan.storeQuery, run, add);
  return totals();
}

/**
 * Returns `add`, which walks through an actor's path as soon as it is read, and `totals`, which then computes the
 * funnel's numbers.
 */
function createFunnelTotals(plan: FunnelPlan): {
  add: (path: FunnelPath, actors: number) => void;
  totals: () => FunnelTotals;
} {
  switch (plan.shows) {
    case 'steps':
      return createStepsTotals(plan);
    case 'time_to_convert':
      return createTimesTotals(plan);
    case 'trends':
      return createTrendsTotals(plan);
    default:
      return plan.shows satisfies never;
  }
}

export function formatFunnel(plan: FunnelPlan, totals: FunnelTotals, context: PlanContext): unknown {
  switch (totals.shows) {
    case 'steps': {
      const none = { values: [], counts: plan.series.map(() => 0), averages: [], medians: [] };
      const rows = nameOtherValues(plan, totals.rows, none).sort(byLastStep);
      const lists = rows.map((some) => plan.series.map((_, step) => stepResult(plan, some, step)));
      return plan.breakdown.breakdowns.length === 0 ? lists[0] : lists;
    }
    case 'time_to_convert':
      return { bins: totals.bins, average_conversion_time: totals.average };
    case 'trends': {
      const zeros = plan.period.edges.map(() => 0);
      const rows = nameOtherValues(plan, totals.rows, { values: [], entered: zeros, converted: zeros });
      const size = ({ entered }: FunnelEntrances) => entered.reduce((sum, one) => sum + one, 0);
      return rows
        .sort((a, b) => Number(a.isOther) - Number(b.isOther) || size(b) - size(a) || compareTexts(a.text, b.text))
        .map((row) => trendResult(plan, row, context));
    }
    default:
      return totals satisfies never;
  }
}

type Named<T> = T & { values: string[]; isOther: boolean; text: string };

/**
 * Labels the row that combines all breakdown values beyond the limit.
 * @param none the result of a funnel without a breakdown and without actors
 */
function nameOtherValues<T extends { values: string[] | null }>(
  { breakdown: { breakdowns } }: FunnelPlan,
  rows: T[],
  none: T,
): Named<T>[] {
  const all = rows.length === 0 && breakdowns.length === 0 ? [none] : rows;
  return all.map((row) => {
    const values = row.values?.map((value) => formatBreakdownValue(value, null)) ?? breakdowns.map(() => 'Other');
    return { ...row, values, isOther: row.values === null, text: values.join('\0') };
  });
}

/** The funnel steps of all actors that share a breakdown value. */
interface Steps {
  values: string[];
  counts: number[];
  /** For each step, the seconds that each actor took after the previous step. */
  seconds: number[][];
}

function createStepsTotals(plan: FunnelPlan) {
  const all = new Map<string, Steps>();
  return {
    add(path: FunnelPath, actors: number) {
      for (const { values, times } of findOutcomes(plan, path)) {
        const key = JSON.stringify(values);
        const sum = all.get(key) ?? { values, counts: plan.series.map(() => 0), seconds: plan.series.map(() => []) };
        all.set(key, sum);
        let before: number | null = null;
        for (const [step, time] of times.entries()) {
          if (time === null) continue;
          sum.counts[step] = (sum.counts[step] ?? 0) + actors;
          if (before !== null) addTimes(sum.seconds[step], (time - before) / 1000, actors);
          before = time;
        }
      }
    },
    totals(): FunnelTotals {
      const kept = keepLargest([...all.values()], plan, { size: ({ counts }) => counts[0] ?? 0, join: joinSteps });
      const rows = kept.map(({ values, counts, seconds }) => {
        // Sort the times, because the rounding of their sum depends on the order.
        const measured = seconds.map((some) => some.filter((time) => time !== 0).sort((a, b) => a - b));
        return { values, counts, averages: measured.map(average), medians: measured.map(median) };
      });
      return { shows: 'steps', rows };
    },
  };
}

function joinSteps(a: Steps, b: Steps): Steps {
  return {
    values: a.values,
    counts: a.counts.map((count, at) => count + (b.counts[at] ?? 0)),
    seconds: a.seconds.map((some, at) => [...some, ...(b.seconds[at] ?? [])]),
  };
}

/** Keeps the breakdown values with the most actors, and combines all others into a row whose `values` are null. */
function keepLargest<T extends { values: string[] }>(
  all: T[],
  { breakdown }: FunnelPlan,
  { size, join }: { size: (one: T) => number; join: (a: T, b: T) => T },
): (Omit<T, 'values'> & { values: string[] | null })[] {
  const inOrder = all.sort((a, b) => size(b) - size(a) || compareTexts(a.values.join('\0'), b.values.join('\0')));
  const [first, ...others] = inOrder.slice(breakdown.limit);
  if (breakdown.breakdowns.length === 0 || first === undefined) return inOrder;
  const kept = inOrder.slice(0, breakdown.limit);
  const rest = others.reduce(join, first);
  return breakdown.hidesOther ? kept : [...kept, { ...rest, values: null }];
}

const compareTexts = (a: string, b: string) => (a < b ? -1 : a > b ? 1 : 0);

function byLastStep(a: Named<FunnelSteps>, b: Named<FunnelSteps>): number {
  for (let step = a.counts.length - 1; step >= 0; step--) {
    const difference = (b.counts[step] ?? 0) - (a.counts[step] ?? 0);
    if (difference !== 0) return difference;
  }
  return compareTexts(a.text, b.text);
}

function stepResult(plan: FunnelPlan, { values, counts, averages, medians }: Named<FunnelSteps>, step: number) {
  const node = plan.series[step];
  const isUnordered = plan.order === 'unordered';
  const event = node?.event ?? null;
  return {
    action_id: isUnordered ? null : event,
    name: isUnordered ? `Completed ${step + 1} step${step === 0 ? '' : 's'}` : event,
    custom_name: isUnordered ? null : (node?.custom_name ?? null),
    order: step,
    people: [],
    count: counts[step] ?? 0,
    type: 'events',
    average_conversion_time: averages[step] ?? null,
    median_conversion_time: medians[step] ?? null,
    ...breakdownFields(plan, values),
  };
}

function breakdownFields({ breakdown }: FunnelPlan, values: string[]) {
  const [first] = breakdown.breakdowns;
  if (first === undefined) return {};
  const shown = first.property.of === 'group' && !breakdown.isList ? values[0] : values;
  return { breakdown: shown, breakdown_value: shown };
}

/** Appends the time once for each actor. */
function addTimes(times: number[] | undefined, seconds: number, actors: number): void {
  for (let actor = 0; actor < actors; actor++) times?.push(seconds);
}

const average = (numbers: number[]) =>
  numbers.length === 0 ? null : numbers.reduce((sum, one) => sum + one, 0) / numbers.length;

function median(inOrder: readonly number[]): number | null {
  if (inOrder.length === 0) return null;
  const middle = (inOrder.length - 1) / 2;
  return ((inOrder[Math.floor(middle)] ?? 0) + (inOrder[Math.ceil(middle)] ?? 0)) / 2;
}

const maxAutomaticBins = 60;
const leastWidth = 60;

function createTimesTotals(plan: FunnelPlan) {
  const { fromStep, toStep, binCount } = plan;
  const times: number[] = [];
  return {
    add(path: FunnelPath, actors: number) {
      for (const outcome of findOutcomes(plan, path)) {
        if (outcome.reached > toStep)
          addTimes(times, ((outcome.times[toStep] ?? 0) - (outcome.times[fromStep] ?? 0)) / 1000, actors);
      }
    },
    totals(): FunnelTotals {
      if (times.length === 0) return { shows: 'time_to_convert', bins: [], average: null };
      times.sort((a, b) => a - b);
      const [low, high] = [Math.floor(times[0] ?? 0), Math.ceil(times.at(-1) ?? 0)];
      const count = binCount ?? Math.min(maxAutomaticBins, Math.max(1, Math.ceil(Math.cbrt(times.length))));
      const width = Math.ceil((high - low) / count) || leastWidth;
      const bins = Array.from({ length: count + 1 }, (_, at): [number, number] => [low + at * width, 0]);
      for (const time of times) {
        const bin = bins[Math.floor((time - low) / width)];
        if (bin !== undefined) bin[1] += 1;
      }
      return { shows: 'time_to_convert', bins, average: average(times) };
    },
  };
}

function createTrendsTotals(plan: FunnelPlan) {
  const zeros = plan.period.edges.map(() => 0);
  const all = new Map<string, FunnelEntrances & { values: string[] }>();
  return {
    add(actor: FunnelPath) {
      for (const { values, bucket, isConverted } of findEntrances(plan, actor)) {
        const key = JSON.stringify(values);
        const sum = all.get(key) ?? { values, entered: [...zeros], converted: [...zeros] };
        all.set(key, sum);
        sum.entered[bucket] = (sum.entered[bucket] ?? 0) + 1;
        if (isConverted) sum.converted[bucket] = (sum.converted[bucket] ?? 0) + 1;
      }
    },
    totals(): FunnelTotals {
      const add = (a: number[], b: number[]) => a.map((one, at) => one + (b[at] ?? 0));
      const rows = keepLargest([...all.values()], plan, {
        size: ({ entered }) => entered.reduce((sum, one) => sum + one, 0),
        join: (a, b) => ({
          values: a.values,
          entered: add(a.entered, b.entered),
          converted: add(a.converted, b.converted),
        }),
      });
      return { shows: 'trends', rows };
    },
  };
}

function trendResult(plan: FunnelPlan, { values, entered, converted }: Named<FunnelEntrances>, context: PlanContext) {
  return {
    count: plan.period.edges.length,
    data: entered.map((count, at) => (count === 0 ? 0 : Math.round((10_000 * (converted[at] ?? 0)) / count) / 100)),
    entered,
    ...formatBucketLabels(plan.period, context.clock),
    ...(values.length === 0 ? {} : { breakdown_value: breakdownFields(plan, values).breakdown_value }),
  };
}

/** Returns when an actor entered the funnel, at most once per interval, and whether it then converted. */
export function findEntrances(
  plan: FunnelPlan,
  actor: FunnelPath,
): { values: string[]; bucket: number; isConverted: boolean }[] {
  const { fromStep, toStep, order } = plan;
  const { edges, end } = plan.period;
  const isUnordered = order === 'unordered';
  // In an unordered funnel, an actor enters with any step.
  const beginning = isUnordered ? ~0 : 1;
  const isBeginning = ({ steps }: FunnelEvent) => (steps & beginning) !== 0;
  const beginsIn = new Set(actor.events.filter(isBeginning).map(({ time }) => bucketAt(edges, time)));
  return [...beginsIn].flatMap((bucket) => {
    const rules = isUnordered
      ? { ...rulesOf(plan), beginsBefore: edges[bucket + 1] ?? end }
      : { ...rulesOf(plan), steps: toStep + 1 };
    const mayBegin = (time: number) =>
      isUnordered ? bucketAt(edges, time) >= bucket : bucketAt(edges, time) === bucket;
    const events = actor.events.map((event) =>
      !isBeginning(event) || mayBegin(event.time) ? event : { ...event, steps: (event.steps & ~beginning) >>> 0 },
    );
    return findOutcomes(plan, { events }, rules)
      .filter(({ reached }) => reached > fromStep)
      .map(({ values, reached }) => ({ values, bucket, isConverted: reached > toStep }));
  });
}

function bucketAt(edges: readonly number[], time: number): number {
  let [low, high] = [0, edges.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((edges[middle] ?? 0) <= time) low = middle + 1;
    else high = middle;
  }
  return low - 1;
}
