// How far one unit got in a funnel: its events, one after the other.

import type { FunnelEvent } from '../event-store/port.ts';
import type { FunnelPlan } from '../plan/funnel.ts';

/** The furthest that was reached. */
export interface Walked {
  /** Number of steps. */
  reached: number;
  /** When each of them was taken; null: an optional step that was skipped. */
  times: (number | null)[];
}

export type WalkRules = Pick<FunnelPlan, 'order' | 'windowMs' | 'exclusions' | 'optional'> & {
  /** Reaching so many steps ends the walk. */
  steps: number;
  /** Steps in any order count only if the first of them was taken before this. */
  beginsBefore?: number;
};

const nowhere: Walked = { reached: 0, times: [] };

/** @param events in the order of time. A unit whose furthest attempt has an exclusion in it got nowhere. */
export function walk(events: readonly FunnelEvent[], rules: WalkRules): Walked {
  return rules.order === 'unordered' ? walkUnordered(events, rules) : walkInOrder(events, rules);
}

/** An attempt that has reached some step. */
interface Attempt {
  start: number;
  times: (number | null)[];
  isExcluded: boolean;
}

interface State {
  /** By the number of steps reached: the latest attempt that has come so far. */
  attempts: (Attempt | null)[];
  best: { reached: number; attempt: Attempt } | null;
}

function walkInOrder(events: readonly FunnelEvent[], rules: WalkRules): Walked {
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

/** Nobody knows which of the events of one moment came first: they count in the order of the steps, each once. */
function inStepOrder(together: FunnelEvent[]): FunnelEvent[] {
  const [first] = together;
  if (
    first === undefined ||
    together.every(({ steps, exclusions }) => steps === first.steps && exclusions === first.exclusions)
  )
    return together;
  const used = new Set<FunnelEvent>();
  const excluding = together.filter(({ exclusions }) => exclusions !== 0);
  const taking: FunnelEvent[] = [];
  for (let step = 0; step < 32; step++) {
    const event = together.find((one) => !used.has(one) && hasBit(one.steps, step));
    if (event === undefined) continue;
    used.add(event);
    taking.push({ ...event, steps: (1 << step) >>> 0, exclusions: 0 });
  }
  const others = together.filter((one) => !used.has(one) && one.exclusions === 0);
  return [...excluding.map((event) => ({ ...event, steps: 0 })), ...others, ...taking];
}

const hasBit = (bits: number, at: number) => ((bits >>> at) & 1) === 1;

function take(state: State, event: FunnelEvent, rules: WalkRules): void {
  const { attempts } = state;
  const { steps, windowMs, exclusions, order } = rules;
  attempts[0] = { start: event.time, times: [], isExcluded: false };
  // From the last step down: one event never is two steps of one attempt.
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

/** The attempt that goes on with a step: the one at the step before or, if that is optional, at the one before that. */
function lastBefore(
  step: number,
  { state, event, rules }: { state: State; event: FunnelEvent; rules: WalkRules },
): Attempt | null {
  const { windowMs, exclusions, optional } = rules;
  const excluded = new Set<number>();
  for (let reached = step - 1; reached >= 0; reached--) {
    const before = state.attempts[reached];
    if (before?.isExcluded || (before && isExclusion(event, reached, exclusions))) excluded.add(before.start);
    // What excludes an attempt at an optional step excludes it without that step too.
    else if (before && !excluded.has(before.start) && mayFollow(before, step, { state, event, windowMs }))
      return before;
    if (!optional.includes(reached - 1)) break;
  }
  return null;
}

/** Whether the event excludes whoever has taken just so many steps. */
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

/** Steps in any order: as many as happened within one window, after the last exclusion. Taking all steps ends the walk. */
function walkUnordered(
  events: readonly FunnelEvent[],
  { steps, windowMs, beginsBefore = Number.POSITIVE_INFINITY }: WalkRules,
): Walked {
  let queues: number[][] = Array.from({ length: steps }, () => []);
  const lastUsed = new Array<number>(steps).fill(Number.NEGATIVE_INFINITY);
  let best = nowhere;
  for (const [at, event] of events.entries()) {
    if (event.exclusions !== 0) {
      // The progress is lost too: what came before no longer counts.
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
