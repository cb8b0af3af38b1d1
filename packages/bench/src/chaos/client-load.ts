import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';

/** What became of one phase's events, as the clients saw it. */
export interface ClientLoad {
  /** Every event that was sent at least once. */
  sent: Set<string>;
  /** Those answered with 200. */
  acknowledged: Set<string>;
  /** Answers other than 200, and answers that never came. */
  refused: number;
  /** By client: when it last got a 200 (`performance.now()`). */
  lastAcknowledgedAt: number[];
  /** The longest any client has waited from one 200 to the next, with its own pauses. */
  longestGapMs: number;
  stop(): Promise<void>;
}

const recoveryPatienceMs = 60_000;
const clients = 24;
/** Clients pause between their requests, so that they load a machine and do not overload it. */
const pauseMs = 40;
const pauseAfterRefusalMs = 200;
/** A request is sent again as SDKs do; then the client continues with the next. */
const attempts = 60;

/**
 * Clients that each send events of their own distinct ids, one request after the other, and repeat what is refused. An
 * event's `number` is higher than that of the one before it of the same id, which was acknowledged by then.
 * @param name begins their distinct ids, so that the phases of a run do not mix.
 */
export function startClientLoad(
  urls: readonly string[],
  { projectApiKey, name }: { projectApiKey: string; name: string },
): ClientLoad {
  const load: Omit<ClientLoad, 'stop'> = {
    ...{ sent: new Set(), acknowledged: new Set(), refused: 0, longestGapMs: 0 },
    lastAcknowledgedAt: new Array(clients).fill(0),
  };
  let isRunning = true;

  /** Single events and small batches in turn. */
  function request(client: number, number: number): { uuids: string[]; path: string; body: string } {
    const size = number % 3 === 0 ? 10 : 1;
    const batch = Array.from({ length: size }, (_, index) => ({
      ...{ uuid: randomUUID(), event: 'tick', distinct_id: `${name}-${client}-${(number + index) % 20}` },
      properties: { number, $set: { last: number } },
    }));
    const uuids = batch.map(({ uuid }) => uuid);
    return size === 1
      ? { uuids, path: '/capture/', body: JSON.stringify({ api_key: projectApiKey, ...batch[0] }) }
      : { uuids, path: '/batch/', body: JSON.stringify({ api_key: projectApiKey, batch }) };
  }

  function acknowledge(client: number, uuids: readonly string[], since: number): number {
    for (const uuid of uuids) load.acknowledged.add(uuid);
    const now = performance.now();
    load.longestGapMs = Math.max(load.longestGapMs, now - since);
    load.lastAcknowledgedAt[client] = now;
    return now;
  }

  const loops = Array.from({ length: clients }, async (_, client) => {
    let since = performance.now();
    for (let number = 0; isRunning; number += 1) {
      const { uuids, path, body } = request(client, number);
      for (const uuid of uuids) load.sent.add(uuid);
      for (let tries = 0; tries < attempts && isRunning; tries += 1) {
        // Another gateway the next time, as a balancer does.
        const url = urls[(client + number + tries) % urls.length];
        if ((await sendEvents(`${url}${path}`, body)) === 200) {
          since = acknowledge(client, uuids, since);
          break;
        }
        load.refused += 1;
        await sleep(pauseAfterRefusalMs);
      }
      await sleep(pauseMs);
    }
  });
  return Object.assign(load, {
    async stop() {
      isRunning = false;
      await Promise.all(loops);
    },
  });
}

/** How long it takes from now until every client has been answered with 200. */
export async function recovery(load: ClientLoad): Promise<number> {
  const from = performance.now();
  while (load.lastAcknowledgedAt.some((at) => at < from)) {
    if (performance.now() - from > recoveryPatienceMs) return Number.POSITIVE_INFINITY;
    await sleep(20);
  }
  return Math.max(...load.lastAcknowledgedAt.map((at) => Math.max(0, at - from)));
}

const answerWithinMs = 10_000;

/** @returns the answer's status; 0 when none came */
export async function sendEvents(url: string, body: string): Promise<number> {
  try {
    const response = await fetch(url, {
      ...{ method: 'POST', headers: { 'content-type': 'application/json' }, body },
      signal: AbortSignal.timeout(answerWithinMs),
    });
    await response.arrayBuffer();
    return response.status;
  } catch {
    return 0;
  }
}
