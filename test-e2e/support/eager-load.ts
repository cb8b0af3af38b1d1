import { randomUUID } from 'node:crypto';

/**
 * Sends batches with all kinds of events to one project. A client sends a batch as soon as it has the response to its
 * previous batch.
 */
export interface EagerLoad {
  acknowledged(): string[];
  /** Returns how often each status other than 200 occurred. */
  refused(): Map<number, number>;
  /**
   * Returns whether every client's last response has the given status. Each client has only one request in flight, so
   * all of its previous requests have ended.
   */
  hasLastStatus(status: number): boolean;
  stop(): Promise<void>;
}

const perBatch = 25;
const clients = 2;
const pauseAfterRefusalMs = 100;

export function startEagerLoad(ingestUrl: string, projectApiKey: string): EagerLoad {
  const acknowledged: string[] = [];
  const refused = new Map<number, number>();
  const latest = Array.from({ length: clients }, () => 0);
  let isRunning = true;
  let round = 0;

  async function sendOne(client: number): Promise<void> {
    round += 1;
    const batch = eventsOf(round);
    const response = await fetch(`${ingestUrl}/batch/`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ api_key: projectApiKey, batch }),
    }).catch(() => null);
    await response?.arrayBuffer();
    const status = response?.status ?? 0;
    latest[client] = status;
    if (status === 200) return void acknowledged.push(...batch.map(({ uuid }) => uuid));
    refused.set(status, (refused.get(status) ?? 0) + 1);
    await new Promise((resolve) => setTimeout(resolve, pauseAfterRefusalMs));
  }

  const loops = Array.from({ length: clients }, async (_, client) => {
    while (isRunning) await sendOne(client);
  });
  return {
    acknowledged: () => [...acknowledged],
    refused: () => refused,
    hasLastStatus: (status) => latest.every((one) => one === status),
    async stop() {
      isRunning = false;
      await Promise.all(loops);
    },
  };
}

/**
 * Returns events that create persons, merges, groups and definitions. One event has an invalid ID, which causes a
 * warning.
 */
function eventsOf(round: number) {
  return Array.from({ length: perBatch }, (_, n) => {
    const person = `person-${round % 40}`;
    const common = { uuid: randomUUID(), distinct_id: person };
    if (n === 0) {
      const properties = { $anon_distinct_id: `anonymous-${round}`, $set: { round } };
      return { ...common, event: '$identify', properties };
    }
    if (n === 1) {
      const properties = { $group_type: 'company', $group_key: `company-${round % 9}`, $group_set: { round } };
      return { ...common, event: '$groupidentify', properties };
    }
    if (n === 2) return { ...common, event: '$identify', properties: { $anon_distinct_id: 'undefined' } };
    return { ...common, event: `event ${round % 20}`, properties: { n, $groups: { company: `company-${round % 9}` } } };
  });
}
