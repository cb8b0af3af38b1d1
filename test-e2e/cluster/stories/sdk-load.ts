import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { sendEvents } from '@millrace/testing';
import type { ClientLoad } from './judge-load.ts';

/**
 * Load from clients that behave like SDKs. Applications capture events without waiting. If events cannot be sent, the
 * clients retry with larger requests.
 */
export interface SdkLoad extends ClientLoad {
  /** Number of rejected requests by status. Status 0 means that no response arrived. */
  refusals: Map<number, number>;
  /** Returns the load's duration in seconds, up to now or until it stopped. */
  seconds(): number;
  waiting(): number;
}

/**
 * The types of clients. Each type sends the fraction `part` of the events. A client sends a request when `flushAt`
 * events are pending.
 */
const kinds = [
  // Server SDKs, which send events in batches
  { clients: 38, part: 0.95, flushAt: 20 },
  // Browser SDKs
  { clients: 10, part: 0.05, flushAt: 1 },
];
const maxInRequest = 100;
const idsOfClient = 20;
/** Every tenth event sets a person property. */
const setsOneIn = 10;
const pauseAfterRefusalMs = 200;

interface SdkClient {
  /** Prefix of the client's distinct IDs. */
  name: string;
  eventsPerMs: number;
  flushAt: number;
  /** When the client starts, as a time of `performance.now()`. Each client starts at a different time. */
  beginsAt: number;
}

/**
 * Starts clients that capture events at a constant rate and send them as SDKs do. A client sends all pending events in
 * one request at a time, and retries the request until it is acknowledged. The `number` of events increases within a
 * distinct ID. Two events of a distinct ID are sent either in order within one request, or the second event is sent
 * after the first is acknowledged.
 * @param name the prefix of the clients' distinct IDs
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

  /** Retries a request until it is acknowledged. @returns false if the load stopped before the acknowledgment */
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
