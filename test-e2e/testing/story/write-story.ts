import { randomUUID } from 'node:crypto';
import { seededRandom } from '../seeded-random.ts';

export interface StoryOptions {
  events: number;
  people: number;
  /** Number of clients that send independently of each other. Each person belongs to one client. */
  clients: number;
  seed: number;
}

/**
 * Generates a stream of events whose final state does not depend on how the log's partitions interleave, although a
 * person's IDs are in different partitions. Every distinct ID writes separate keys with increasing values, and every
 * merge is valid in any order (see `personScript`). One in a hundred events is sent a second time.
 * @returns one list per client, to be sent in this order
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
      // A person's first event has the earliest timestamp, no matter when it is sent.
      timestamp: new Date(event.event === 'signed up' ? startMs - person(event) : startMs + tick++).toISOString(),
    }));
    const wanted = Math.floor(repeats / options.clients) + (client < repeats % options.clients ? 1 : 0);
    return withRepeats(stream, wanted, random);
  });
}

function person({ distinct_id }: StoryEvent): number {
  return 1000 + Number(/\d+/.exec(distinct_id)?.[0] ?? 0);
}

/** Merges many scripts into one stream, preserving the order within each script. */
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

/** Repeats some events up to 200 positions later, like a client that did not receive the response. */
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

/**
 * Generates all events of one person in order. A person has a user ID and one to three anonymous IDs. Most have an
 * alias, and some have a second user ID with a separate anonymous ID. For some persons, a stranger exists who remains a
 * separate person.
 *
 * Why every merge is valid in any order of the partitions:
 *
 * - An anonymous ID is merged only once, and is not identified before.
 *
 * - An alias value is only identified by its own alias event.
 *
 * - The second user ID, which is identified in its own partition, is merged by `$merge_dangerously`, which has no
 * conditions.
 *
 * Why `created_at` is known: the first event has the user ID and therefore always creates its person, and it has the
 * earliest timestamp.
 */
function personScript(person: number, length: number, random: () => number): StoryEvent[] {
  const user = `user-${person}`;
  const visitors = Array.from({ length: 1 + Math.floor(random() * 3) }, (_, index) => `visitor-${person}-${index}`);
  const alias = random() < 0.6 ? `alias-${person}` : null;
  const second = random() < 0.2 ? `second-${person}` : null;
  // A different person on the same machine, who never signs in.
  const stranger = random() < 0.1 ? [`stranger-${person}`] : [];
  const ids = [
    ...stranger,
    user,
    ...visitors,
    ...(alias ? [alias] : []),
    ...(second ? [second, `visitor-${second}`] : []),
  ];

  const fixed: StoryEvent[] = [event(user, 'signed up', {})];
  for (const visitor of visitors) {
    fixed.push(event(user, '$identify', { $anon_distinct_id: visitor, $set: { [`login_${visitor}`]: true } }));
    // A repeated sign-in does not cause a second merge.
    if (random() < 0.3) fixed.push(event(user, '$identify', { $anon_distinct_id: visitor }));
  }
  if (second) {
    fixed.push(event(second, '$identify', { $anon_distinct_id: `visitor-${second}` }));
    fixed.push(event(user, '$merge_dangerously', { alias: second }));
  }
  if (alias) fixed.push(event(user, '$create_alias', { alias }));

  const counters = new Map<string, number>();
  const count = (id: string) => {
    const next = (counters.get(id) ?? 0) + 1;
    counters.set(id, next);
    return next;
  };
  const fillerCount = Math.max(0, length - fixed.length);
  const filler = () => {
    const id = ids[Math.floor(random() * ids.length)] ?? user;
    // The user ID's first event is a fixed event, so all fixed events precede the fillers.
    return { id, make: () => fillerEvent(id, count(id), person, random) };
  };
  const script: StoryEvent[] = [];
  let fixedAt = 0;
  for (let left = fillerCount; left > 0 || fixedAt < fixed.length; ) {
    const next = fixed[fixedAt];
    const isFixedNext = next && random() * (left + fixed.length - fixedAt) < fixed.length - fixedAt;
    if (isFixedNext) {
      script.push(next);
      fixedAt++;
      continue;
    }
    const { id, make } = filler();
    left--;
    if (id === user && fixedAt === 0)
      script.push(fillerEvent(visitors[0] ?? user, count(visitors[0] ?? user), person, random));
    else script.push(make());
  }
  return script;
}

/**
 * Creates a filler event for an ID. `n` is the event's sequence number, and the value of all keys that the event
 * writes.
 */
function fillerEvent(id: string, n: number, person: number, random: () => number): StoryEvent {
  const dice = random();
  const company = `company-${person % 40}`;
  if (dice < 0.3) return event(id, 'order placed', { n, $set: { [`last_${id}`]: n } });
  if (dice < 0.4)
    return { ...event(id, '$pageview', { n }), $set: { [`seen_${id}`]: n }, $set_once: { [`first_${id}`]: n } };
  if (dice < 0.5) return event(id, '$set', { n, $set: { [`mood_${id}`]: `mood ${n}` } });
  if (dice < 0.56) return event(id, 'mood lost', { n, $unset: [`mood_${id}`] });
  if (dice < 0.62) return event(id, '$identify', { n, $set: { [`plan_${id}`]: n } });
  if (dice < 0.7) {
    const [$group_type, $group_key] = random() < 0.7 ? ['company', company] : ['team', `team-${person % 15}`];
    const $group_set = { [`by_${id}`]: n, name: $group_key };
    return event(id, random() < 0.5 ? '$groupidentify' : '$group_identify', { n, $group_type, $group_key, $group_set });
  }
  if (dice < 0.8) return event(id, 'invoice opened', { n, $groups: { company } });
  // An anonymous event, which must not change a person.
  if (dice < 0.85) return event(id, 'ghost', { n, $process_person_profile: false, $set: { [`ghost_${id}`]: n } });
  return event(id, 'button pressed', { n });
}

function event(distinctId: string, name: string, properties: Record<string, unknown>): StoryEvent {
  return { uuid: '', event: name, distinct_id: distinctId, timestamp: '', properties };
}

/** An event of the story as it is sent, with only the fields of the wire format. */
export interface StoryEvent {
  uuid: string;
  event: string;
  distinct_id: string;
  timestamp: string;
  properties: Record<string, unknown>;
  /** Person properties at the top level of the event, where several SDKs send them. */
  $set?: Record<string, unknown>;
  $set_once?: Record<string, unknown>;
  $unset?: string[];
}
