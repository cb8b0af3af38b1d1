import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { sendEvents } from '@millrace/testing';
import type { ClientLoad } from './judge-load.ts';

/**
 * A load of SDK clients. Applications capture events without waiting: events that cannot be sent yet are sent later,
 * in larger requests.
 */
export interface SdkLoad extends ClientLoad {
  /** Number of rejected requests by status; 0 for no response. */
  refusals: Map<number, number>;
  /** Seconds from the start until the load stopped, or until now. */
  seconds(): number;
  /** Number of captured events that are not acknowledged yet. */
  waiting(): number;
}

/** The clients of each kind send `part` of the events. A request is due when `flushAt` events are waiting. */
const kinds = [
  // Servers, whose SDKs batch events.
  { clients: 38, part: 0.95, flushAt: 20 },
  // Visitors.
  { clients: 10, part: 0.05, flushAt: 1 },
];
const maxInRequest = 100;
const idsOfClient = 20;
/** One event in this number sets a person property. */
const setsOneIn = 10;
const pauseAfterRefusalMs = 200;

interface SdkClient {
  /** Prefix of its distinct IDs. */
  name: string;
  eventsPerMs: number;
  flushAt: number;
  /** Start by `performance.now()`, different for each client. */
  beginsAt: number;
}

/**
 * Starts clients that capture events at a constant rate and send them as SDKs do: one request at a time with all
 * waiting events, repeated until it is acknowledged. Within a distinct ID, the `number` of events increases, and an
 * event is sent only together with or after the acknowledgment of the previous one.
 * @param name prefix of their distinct IDs
 */
export function startSdkLoad(
  url: string,
  { projectApiKey, name, eventsPerSecond }: { projectApiKey: string; name: string; eventsPerSecond: number },
): SdkLoad {
  const startedAt = performance.now();
  const clients = sdkClients(name, eventsPerSecond, startedAt);
  const load = {
    ...{ sent: new Set<string>(), acknowledged: new Set<string>(), refused: 0, longestGapMs: 0 },
    lastAcknowledgedAt: clients.map(() => 0),
    refusals: new Map<number, number>(),
  };
  let stoppedAt: number | null = null;

  /** Repeats a request until it is acknowledged. @returns whether that happened before the load stopped */
  async function deliver({ path, body }: Request): Promise<boolean> {
    for (;;) {
      const status = await sendEvents(`${url}${path}`, body);
      if (status === 200) return true;
      load.refused += 1;
      load.refusals.set(status, (load.refusals.get(status) ?? 0) + 1);
      if (stoppedAt !== null) return false;
      await sleep(pauseAfterRefusalMs);
    }
  }

  async function run(client: SdkClient, index: number): Promise<void> {
    let done = 0;
    let acknowledgedAt = performance.now();
    while (stoppedAt === null) {
      const waiting = Math.floor((performance.now() - client.beginsAt) * client.eventsPerMs) - done;
      if (waiting < client.flushAt) {
        await sleep((client.flushAt - Math.max(0, waiting)) / client.eventsPerMs);
        continue;
      }
      const events = newEvents(client.name, done, Math.min(waiting, maxInRequest));
      for (const { uuid } of events) load.sent.add(uuid);
      if (!(await deliver(requestOf(events, projectApiKey)))) return;
      done += events.length;
      for (const { uuid } of events) load.acknowledged.add(uuid);
      const now = performance.now();
      load.longestGapMs = Math.max(load.longestGapMs, now - acknowledgedAt);
      load.lastAcknowledgedAt[index] = now;
      acknowledgedAt = now;
    }
  }

  const running = Promise.all(clients.map(run));
  const seconds = () => ((stoppedAt ?? performance.now()) - startedAt) / 1000;
  return Object.assign(load, {
    seconds,
    waiting: () => Math.max(0, Math.round(seconds() * eventsPerSecond) - load.acknowledged.size),
    async stop() {
      stoppedAt ??= performance.now();
      await running;
    },
  });
}

function sdkClients(name: string, eventsPerSecond: number, startedAt: number): SdkClient[] {
  return kinds.flatMap(({ clients, part, flushAt }, kind) =>
    Array.from({ length: clients }, (_, index) => {
      const eventsPerMs = (eventsPerSecond * part) / clients / 1000;
      const beginsAt = startedAt + ((index / clients) * flushAt) / eventsPerMs;
      return { name: `${name}-${kind}-${index}`, eventsPerMs, flushAt, beginsAt };
    }),
  );
}

interface NewEvent {
  uuid: string;
  event: string;
  distinct_id: string;
  properties: { number: number; $set?: { last: number } };
}

function newEvents(client: string, first: number, count: number): NewEvent[] {
  return Array.from({ length: count }, (_, index) => {
    const number = first + index;
    const set = number % setsOneIn === 0 ? { $set: { last: number } } : {};
    const properties = { number, ...set };
    return { uuid: randomUUID(), event: 'tick', distinct_id: `${client}-${number % idsOfClient}`, properties };
  });
}

interface Request {
  path: string;
  body: string;
}

function requestOf(events: readonly NewEvent[], projectApiKey: string): Request {
  const [only] = events;
  return events.length === 1
    ? { path: '/capture/', body: JSON.stringify({ api_key: projectApiKey, ...only }) }
    : { path: '/batch/', body: JSON.stringify({ api_key: projectApiKey, batch: events }) };
}
