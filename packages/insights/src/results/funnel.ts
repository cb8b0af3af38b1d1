// Computes the steps, times and trends of a funnel from the walks of all actors.

import type { FunnelEvent, FunnelPath } from '../event-store/queries.ts';
import type { PlanContext } from '../plan/context.ts';
import { nameBuckets } from '../plan/dates.ts';
import type { FunnelPlan } from '../plan/funnel.ts';
import { type FunnelProgress, type WalkRules, walkFunnel } from './funnel-walk.ts';
import { formatBreakdownValue } from './trends.ts';

/** Progress of an actor, for one breakdown value. */
export interface FunnelOutcome extends FunnelProgress {
  /** Breakdown values; empty strings for missing ones. */
  values: string[];
}

const rulesOf = ({ order, windowMs, exclusions, optional, series }: FunnelPlan): WalkRules => ({
  ...{ order, windowMs, exclusions, optional },
  steps: series.length,
});

/**
 * Returns one outcome per breakdown value of the actor, or a single one without a breakdown. Omits those without
 * progress.
 */
export function findOutcomes(plan: FunnelPlan, actor: FunnelPath, rules: WalkRules = rulesOf(plan)): FunnelOutcome[] {
  return partsOf(plan, actor)
    .map(({ values, events }) => ({ values, ...walkFunnel(events, rules) }))
    .filter(({ reached }) => reached > 0);
}

/** Returns the actor's events per breakdown value. */
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

/** Returns whether actors that reached only the first step must be read individually. */
export function needsSingleActors({ shows, exclusions }: FunnelPlan): boolean {
  return shows === 'trends' || exclusions.length > 0;
}

/** Aggregates the actors of a funnel while they are read. */
export function createFunnelResult(
  plan: FunnelPlan,
  context: PlanContext,
): { add: (path: FunnelPath, actors: number) => void; finish: () => unknown } {
  switch (plan.shows) {
    case 'steps':
      return createStepsResult(plan);
    case 'time_to_convert':
      return createTimesResult(plan);
    case 'trends':
      return createTrendsResult(plan, context);
    default:
      return plan.shows satisfies never;
  }
}

/** Aggregated steps for one breakdown value. */
interface Steps {
  values: string[];
  counts: number[];
  /** For each step, the seconds since the previous step for every actor. */
  seconds: number[][];
}

function createStepsResult(plan: FunnelPlan) {
  const all = new Map<string, Steps>();
  const steps = plan.series.length;
  const empty = (values: string[]): Steps => ({
    values,
    counts: new Array(steps).fill(0),
    seconds: plan.series.map(() => []),
  });
  if (plan.breakdown.breakdowns.length === 0) all.set('[]', empty([]));
  return {
    add(path: FunnelPath, actors: number) {
      for (const { values, times } of findOutcomes(plan, path)) {
        const key = JSON.stringify(values);
        const sum = all.get(key) ?? empty(values);
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
    finish() {
      const kept = keepLargest([...all.values()], plan, { size: ({ counts }) => counts[0] ?? 0, join: joinSteps });
      const lists = kept.sort(byLastStep).map((some) => plan.series.map((_, step) => stepResult(plan, some, step)));
      return plan.breakdown.breakdowns.length === 0 ? lists[0] : lists;
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

/** Keeps the breakdown values with the most actors, and joins all others. */
function keepLargest<T extends { values: string[] }>(
  all: T[],
  { breakdown }: FunnelPlan,
  { size, join }: { size: (one: T) => number; join: (a: T, b: T) => T },
): T[] {
  const inOrder = all.sort((a, b) => size(b) - size(a) || compareTexts(a.values.join('\0'), b.values.join('\0')));
  const [first, ...others] = inOrder.slice(breakdown.limit);
  if (breakdown.breakdowns.length === 0 || first === undefined) return inOrder;
  const kept = inOrder.slice(0, breakdown.limit);
  const rest = others.reduce(join, first);
  return breakdown.hidesOther ? kept : [...kept, { ...rest, values: rest.values.map(() => 'Other') }];
}

const compareTexts = (a: string, b: string) => (a < b ? -1 : a > b ? 1 : 0);

function byLastStep(a: Steps, b: Steps): number {
  for (let step = a.counts.length - 1; step >= 0; step--) {
    const difference = (b.counts[step] ?? 0) - (a.counts[step] ?? 0);
    if (difference !== 0) return difference;
  }
  return compareTexts(a.values.join('\0'), b.values.join('\0'));
}

function stepResult(plan: FunnelPlan, { values, counts, seconds }: Steps, step: number) {
  const node = plan.series[step];
  const isUnordered = plan.order === 'unordered';
  const event = node?.event ?? null;
  // Sorted, because sums of fractions depend on the order.
  const measured = (seconds[step] ?? []).filter((time) => time !== 0).sort((a, b) => a - b);
  return {
    action_id: isUnordered ? null : event,
    name: isUnordered ? `Completed ${step + 1} step${step === 0 ? '' : 's'}` : event,
    custom_name: isUnordered ? null : (node?.custom_name ?? null),
    order: step,
    people: [],
    count: counts[step] ?? 0,
    type: 'events',
    average_conversion_time: average(measured),
    median_conversion_time: median(measured),
    ...breakdownFields(plan, values),
  };
}

function breakdownFields({ breakdown }: FunnelPlan, values: string[]) {
  const [first] = breakdown.breakdowns;
  if (first === undefined) return {};
  const shown = first.property.of === 'group' && !breakdown.isList ? values[0] : values;
  return { breakdown: shown, breakdown_value: shown };
}

/** Adds the time of each actor. */
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

function createTimesResult(plan: FunnelPlan) {
  const { fromStep, toStep, binCount } = plan;
  const times: number[] = [];
  return {
    add(path: FunnelPath, actors: number) {
      for (const outcome of findOutcomes(plan, path)) {
        if (outcome.reached > toStep)
          addTimes(times, ((outcome.times[toStep] ?? 0) - (outcome.times[fromStep] ?? 0)) / 1000, actors);
      }
    },
    finish() {
      if (times.length === 0) return { bins: [], average_conversion_time: null };
      times.sort((a, b) => a - b);
      const [least, most] = times.reduce(
        ([low, high], time) => [Math.min(low, time), Math.max(high, time)],
        [Number.POSITIVE_INFINITY, 0],
      );
      const [low, high] = [Math.floor(least), Math.ceil(most)];
      const count = binCount ?? Math.min(maxAutomaticBins, Math.max(1, Math.ceil(Math.cbrt(times.length))));
      const width = Math.ceil((high - low) / count) || leastWidth;
      const bins = Array.from({ length: count + 1 }, (_, at) => [Math.round(low + at * width), 0]);
      for (const time of times) {
        const bin = bins[Math.floor((time - low) / width)];
        if (bin !== undefined) bin[1] = (bin[1] ?? 0) + 1;
      }
      return { bins, average_conversion_time: average(times) };
    },
  };
}

/** Number of actors that entered and converted in each interval, for one breakdown value. */
interface Entrances {
  values: string[];
  entered: number[];
  converted: number[];
}

function createTrendsResult(plan: FunnelPlan, context: PlanContext) {
  const { edges } = plan.period;
  const all = new Map<string, Entrances>();
  const empty = (values: string[]): Entrances => ({
    values,
    entered: new Array(edges.length).fill(0),
    converted: new Array(edges.length).fill(0),
  });
  if (plan.breakdown.breakdowns.length === 0) all.set('[]', empty([]));
  return {
    add(actor: FunnelPath) {
      for (const { values, bucket, isConverted } of findEntrances(plan, actor)) {
        const key = JSON.stringify(values);
        const sum = all.get(key) ?? empty(values);
        all.set(key, sum);
        sum.entered[bucket] = (sum.entered[bucket] ?? 0) + 1;
        if (isConverted) sum.converted[bucket] = (sum.converted[bucket] ?? 0) + 1;
      }
    },
    finish() {
      const add = (a: number[], b: number[]) => a.map((one, at) => one + (b[at] ?? 0));
      const total = (numbers: number[]) => numbers.reduce((sum, one) => sum + one, 0);
      const kept = keepLargest([...all.values()], plan, {
        size: ({ entered }) => total(entered),
        join: (a, b) => ({
          values: a.values,
          entered: add(a.entered, b.entered),
          converted: add(a.converted, b.converted),
        }),
      });
      return kept.map(({ values, entered, converted }) => ({
        count: edges.length,
        data: entered.map((count, at) => (count === 0 ? 0 : Math.round((10_000 * (converted[at] ?? 0)) / count) / 100)),
        entered,
        ...nameBuckets(plan.period, context.clock),
        ...(values.length === 0 ? {} : { breakdown_value: breakdownFields(plan, values).breakdown_value }),
      }));
    },
  };
}

/**
 * Returns the entrances of an actor: at most one per interval in which it starts, and whether it converts from there.
 */
export function findEntrances(
  plan: FunnelPlan,
  actor: FunnelPath,
): { values: string[]; bucket: number; isConverted: boolean }[] {
  const { fromStep, toStep, order } = plan;
  const { edges, end } = plan.period;
  const isUnordered = order === 'unordered';
  // In an unordered funnel, any step starts an entrance.
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
