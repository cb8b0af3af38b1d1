import { randomUUID } from 'node:crypto';

/** One request and what became of it. */
export interface Attempt {
  uuid: string;
  /** Whose distinct id it was. */
  client: string;
  /** HTTP status; 0 when no answer came within `answerWithinMs`, or the connection broke. */
  status: number;
  retryAfter: string | null;
}

/** Single events from several clients, one after the other each, until stopped. */
export interface SteadyLoad {
  /** All attempts that have ended. */
  attempts: Attempt[];
  stop(): Promise<void>;
}

/** An answer must come within this, fault or not: the limit for a broken broker is 3 s, the rest is a busy machine. */
const answerWithinMs = 25_000;

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
        signal: AbortSignal.timeout(answerWithinMs),
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
