import { randomUUID } from 'node:crypto';
import { seededRandom } from '../seeded-random.ts';
import { personScript } from './person-script.ts';
import type { StoryEvent } from './story-event.ts';

export interface StoryOptions {
  events: number;
  people: number;
  /** Senders that do not wait for each other; each person belongs to one of them. */
  clients: number;
  seed: number;
}

/**
 * A stream of events whose end state does not depend on how the log's partitions interleave, although people's ids
 * lie in different partitions: every distinct id writes keys of its own, with values that only grow, and every merge is
 * one that no order can refuse (see `personScript`). One in a hundred events is sent a second time, later.
 *
 * @returns one list per client, to be sent in that order.
 */
export function writeStory(options: StoryOptions): StoryEvent[][] {
  const random = seededRandom(options.seed);
  const repeats = Math.floor(options.events / 100);
  const perClient = Array.from({ length: options.clients }, () => [] as StoryEvent[][]);
  const startMs = Date.now() - 3_600_000;
  for (let person = 0; person < options.people; person++) {
    const share = Math.floor(options.events / options.people) + (person < options.events % options.people ? 1 : 0);
    perClient[person % options.clients]?.push(personScript(person, share, random));
  }
  let tick = 0;
  return perClient.map((scripts, client) => {
    const stream = shuffleTogether(scripts, random).map((event) => ({
      ...event,
      uuid: randomUUID(),
      // The opening event of a person is dated before everything else, whenever it is sent.
      timestamp: new Date(event.event === 'signed up' ? startMs - person(event) : startMs + tick++).toISOString(),
    }));
    const wanted = Math.floor(repeats / options.clients) + (client < repeats % options.clients ? 1 : 0);
    return withRepeats(stream, wanted, random);
  });
}

function person({ distinct_id }: StoryEvent): number {
  return 1000 + Number(/\d+/.exec(distinct_id)?.[0] ?? 0);
}

/** One stream of many scripts, each script in its own order. */
function shuffleTogether(scripts: readonly StoryEvent[][], random: () => number): StoryEvent[] {
  const order = scripts.flatMap((script, index) => script.map(() => index));
  for (let last = order.length - 1; last > 0; last--) {
    const other = Math.floor(random() * (last + 1));
    [order[last], order[other]] = [order[other] ?? 0, order[last] ?? 0];
  }
  const next = scripts.map(() => 0);
  return order.flatMap((index) => {
    const event = scripts[index]?.[next[index] ?? 0];
    next[index] = (next[index] ?? 0) + 1;
    return event ? [event] : [];
  });
}

/** Sends some events again, up to 200 places later: what a client does that did not hear the answer. */
function withRepeats(stream: readonly StoryEvent[], count: number, random: () => number): StoryEvent[] {
  const again = new Map<number, StoryEvent[]>();
  for (let index = 0; index < count; index++) {
    const from = Math.floor(random() * stream.length);
    const to = Math.min(stream.length - 1, from + 1 + Math.floor(random() * 200));
    const event = stream[from];
    if (event) again.set(to, [...(again.get(to) ?? []), event]);
  }
  return stream.flatMap((event, index) => [event, ...(again.get(index) ?? [])]);
}
