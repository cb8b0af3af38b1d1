// Determines from an actor's events, in chronological order, how far the actor got in a funnel.

import type { FunnelEvent } from '../event-store/queries.ts';
import type { FunnelPlan } from '../plan/funnel.ts';

export interface FunnelProgress {
  reached: number;
  /** When each step was completed, or null for an optional step that was skipped. */
  times: (number | null)[];
}

export type WalkRules = Pick<FunnelPlan, 'order' | 'windowMs' | 'exclusions' | 'optional'> & {
  /** The number of steps after which the walk ends. */
  steps: number;
  /** In a funnel with steps in any order, the time before which the first step must happen. */
  beginsBefore?: number;
};

const nowhere: FunnelProgress = { reached: 0, times: [] };

/**
 * Determines an actor's progress. An actor whose furthest attempt contains an exclusion has no progress.
 * @param events the actor's events, sorted by time
 */
export function findFunnelProgress(events: readonly FunnelEvent[], rules: WalkRules): FunnelProgress {
  return rules.order === 'unordered' ? walkUnordered(events, rules) : walkInOrder(events, rules);
}

/** An attempt at the funnel that has completed at least one step. */
interface Attempt {
  start: number;
  times: (number | null)[];
  isExcluded: boolean;
}

interface State {
  /** At index n, the latest attempt that has completed exactly n steps. */
  attempts: (Attempt | null)[];
  best: { reached: number; attempt: Attempt } | null;
}

function walkInOrder(events: readonly FunnelEvent[], rules: WalkRules): FunnelProgress {
  const state: State = { attempts: new Array(rules.steps + 1).fill(null), best: null };
  for (let at = 0; at < events.length; ) {
    const together = sameMoment(events, at);
    at += together.length;
    for (const event of inStepOrder(together)) take(state, event, rules);
    if (state.best?.reached === rules.steps && !state.best.attempt.isExcluded) break;
  }
  const { best } = state;
  return best === null || best.attempt.isExcluded ? nowhere : { reached: best.reached, times: best.attempt.times };
}

function sameMoment(events: readonly FunnelEvent[], start: number): FunnelEvent[] {
  const time = events[start]?.time;
  let end = start + 1;
  while (events[end]?.time === time) end += 1;
  return events.slice(start, end);
}

/**
 * Sorts simultaneous events, whose real order is unknown: exclusions first, then other events, and then the steps in
 * their order. Among events with the same first step, events with fewer and earlier steps come first.
 */
function inStepOrder(together: FunnelEvent[]): FunnelEvent[] {
  if (together.length === 1) return together;
  const firstStep = ({ steps, exclusions }: FunnelEvent) =>
    exclusions > 0 ? -1 : steps === 0 ? 0 : (steps & -steps) >>> 0;
  return together.sort((a, b) => firstStep(a) - firstStep(b) || a.exclusions - b.exclusions || a.steps - b.steps);
}

const hasBit = (bits: number, at: number) => ((bits >>> at) & 1) === 1;

function take(state: State, event: FunnelEvent, rules: WalkRules): void {
  const { attempts } = state;
  const { steps, windowMs, exclusions, order } = rules;
  attempts[0] = { start: event.time, times: [], isExcluded: false };
  // Iterate backwards from the last step, so that one event never counts as two steps of an attempt.
  for (let step = steps; step >= 1; step--) {
    const last = attempts[step - 1];
    if (last && mayFollow(last, step, { state, event, windowMs }) && isExclusion(event, step - 1, exclusions))
      exclude(state, { reached: step - 1, before: last, time: event.time, windowMs });
    if (!hasBit(event.steps, step - 1)) continue;
    const before = lastBefore(step, { state, event, rules });
    if (before !== null) advance(state, { reached: step, before, time: event.time });
  }
  if (order !== 'strict') return;
  for (let step = 1; step <= steps; step++) if (!hasBit(event.steps, step - 1)) attempts[step] = null;
}

function mayFollow(
  before: Attempt,
  step: number,
  { state: { attempts }, event, windowMs }: { state: State; event: FunnelEvent; windowMs: number },
): boolean {
  const isRepeated = step > 1 && attempts[step]?.start === before.start;
  return !before.isExcluded && !isRepeated && event.time - before.start <= windowMs;
}

/**
 * Returns the attempt at the nearest earlier step, which the event can advance to the given step. Optional steps in
 * between may be skipped.
 */
function lastBefore(
  step: number,
  { state, event, rules }: { state: State; event: FunnelEvent; rules: WalkRules },
): Attempt | null {
  const { windowMs, exclusions, optional } = rules;
  const excluded = new Set<number>();
  for (let reached = step - 1; reached >= 0; reached--) {
    const before = state.attempts[reached];
    if (before?.isExcluded || (before && isExclusion(event, reached, exclusions))) excluded.add(before.start);
    // If an exclusion ends an attempt at an optional step, it also ends the attempt without that step.
    else if (before && !excluded.has(before.start) && mayFollow(before, step, { state, event, windowMs }))
      return before;
    if (!optional.includes(reached - 1)) break;
  }
  return null;
}

/** Returns true if the event is an exclusion for attempts that have completed exactly `reached` steps. */
function isExclusion(event: FunnelEvent, reached: number, exclusions: WalkRules['exclusions']): boolean {
  return (
    event.exclusions !== 0 &&
    exclusions.some(({ from, to }, at) => hasBit(event.exclusions, at) && reached > from && reached <= to)
  );
}

function exclude(
  { best }: State,
  { reached, before, time, windowMs }: { reached: number; before: Attempt; time: number; windowMs: number },
): void {
  before.isExcluded = true;
  if (best?.reached === reached && time - best.attempt.start <= windowMs)
    best.attempt = { ...best.attempt, isExcluded: true };
}

function advance(state: State, { reached, before, time }: { reached: number; before: Attempt; time: number }): void {
  const skipped = new Array<null>(reached - 1 - before.times.length).fill(null);
  const attempt = { start: before.start, times: [...before.times, ...skipped, time], isExcluded: false };
  state.attempts[reached] = attempt;
  const { best } = state;
  const isFurther = best === null || reached > best.reached || (reached === best.reached && best.attempt.isExcluded);
  if (isFurther) state.best = { reached, attempt };
}

/**
 * Walks through a funnel with steps in any order. Counts the steps within one window after the last exclusion, and ends
 * when all steps are reached.
 */
function walkUnordered(
  events: readonly FunnelEvent[],
  { steps, windowMs, beginsBefore = Number.POSITIVE_INFINITY }: WalkRules,
): FunnelProgress {
  let queues: number[][] = Array.from({ length: steps }, () => []);
  const lastUsed = new Array<number>(steps).fill(Number.NEGATIVE_INFINITY);
  let best = nowhere;
  for (const [at, event] of events.entries()) {
    if (event.exclusions !== 0) {
      // An exclusion discards the progress so far.
      queues = queues.map(() => []);
      best = nowhere;
      continue;
    }
    const matching = queues.map((_, step) => step).filter((step) => hasBit(event.steps, step));
    if (matching.length === 0) continue;
    const step = matching.reduce((least, one) => ((lastUsed[one] ?? 0) < (lastUsed[least] ?? 0) ? one : least));
    lastUsed[step] = at;
    queues[step]?.push(event.time);
    for (const queue of queues) while (queue[0] !== undefined && event.time - queue[0] > windowMs) queue.shift();
    const times = queues.flatMap(([first]) => (first === undefined ? [] : [first])).sort((a, b) => a - b);
    const isFurther = times.length > best.reached && (times[0] ?? 0) < beginsBefore;
    if (isFurther) best = { reached: times.length, times };
    if (best.reached === steps) break;
  }
  return best;
}
