import { randomUUID } from 'node:crypto';

export interface Attempt {
  uuid: string;
  /** The client's name, which is also the distinct ID of its events. */
  client: string;
  /** HTTP status. 0 if the connection broke or no response arrived within the time limit. */
  status: number;
  retryAfter: string | null;
}

/** Sends single events from several clients until it is stopped. Each client sends one event at a time. */
export interface SteadyLoad {
  attempts: Attempt[];
  stop(): Promise<void>;
}

/** Response time limit. The gateway's limit for a broken broker is 3 s, and a busy machine needs additional time. */
const responseTimeoutMs = 25_000;

export function startSteadyLoad(
  ingestUrl: string,
  projectApiKey: string,
  { clients = 8, pauseMs = 10 } = {},
): SteadyLoad {
  const attempts: Attempt[] = [];
  let isRunning = true;

  async function attempt(client: number): Promise<Attempt> {
    const uuid = randomUUID();
    const clientId = `client-${client}`;
    const body = JSON.stringify({ api_key: projectApiKey, event: 'tick', distinct_id: clientId, uuid });
    try {
      const response = await fetch(`${ingestUrl}/capture/`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body,
        signal: AbortSignal.timeout(responseTimeoutMs),
      });
      await response.arrayBuffer();
      return { uuid, client: clientId, status: response.status, retryAfter: response.headers.get('retry-after') };
    } catch {
      return { uuid, client: clientId, status: 0, retryAfter: null };
    }
  }

  const loops = Array.from({ length: clients }, async (_, client) => {
    while (isRunning) {
      attempts.push(await attempt(client));
      await new Promise((resolve) => setTimeout(resolve, pauseMs));
    }
  });
  return {
    attempts,
    async stop() {
      isRunning = false;
      await Promise.all(loops);
    },
  };
}
