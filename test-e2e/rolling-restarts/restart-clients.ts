import { randomUUID } from 'node:crypto';
import { Agent, request } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { seededRandom } from '@millrace/testing';

/** A request that is sent only once, so that every problem counts as a failure. */
export interface Sent {
  client: string;
  uuid: string;
  /** The HTTP status or the connection error. */
  outcome: number | string;
}

export interface RestartClients {
  sent: Sent[];
  stop(): Promise<void>;
}

interface ClientStyle {
  name: string;
  /** An agent that keeps connections open. Undefined to open a new connection for each request. */
  agent: Agent | undefined;
  pauseMs(): number;
  bodyBytes: number;
}

/**
 * Returns different kinds of clients. Some keep their connection and send often or rarely, some open a new connection
 * per request, and one sends large bodies.
 */
function clientStyles(random: () => number): ClientStyle[] {
  const keeping = () => new Agent({ keepAlive: true, maxSockets: 1 });
  const some = (count: number, name: string, style: () => Omit<ClientStyle, 'name'>) =>
    Array.from({ length: count }, (_, index) => ({ name: `${name} ${index}`, ...style() }));
  return [
    ...some(4, 'busy', () => ({ agent: keeping(), pauseMs: () => 5, bodyBytes: 200 })),
    ...some(4, 'now and then', () => ({ agent: keeping(), pauseMs: () => random() * 200, bodyBytes: 200 })),
    ...some(2, 'new each time', () => ({ agent: undefined, pauseMs: () => 20, bodyBytes: 200 })),
    ...some(1, 'large', () => ({ agent: keeping(), pauseMs: () => 50, bodyBytes: 400_000 })),
  ];
}

/** Starts clients that send events continuously during restarts, without retries. */
export function startRestartClients(url: string, projectApiKey: string, seed: number): RestartClients {
  const sent: Sent[] = [];
  let isRunning = true;
  const styles = clientStyles(seededRandom(seed));

  const loops = styles.map(async ({ name, agent, pauseMs, bodyBytes }) => {
    while (isRunning) {
      const uuid = randomUUID();
      const properties = { filler: 'x'.repeat(bodyBytes) };
      const body = JSON.stringify({ api_key: projectApiKey, event: 'tick', distinct_id: name, uuid, properties });
      sent.push({ client: name, uuid, outcome: await post(`${url}/batch/`, body, agent) });
      await sleep(pauseMs());
    }
  });
  return {
    sent,
    async stop() {
      isRunning = false;
      await Promise.all(loops);
      for (const { agent } of styles) agent?.destroy();
    },
  };
}

/**
 * Response time limit. It is long, because a new gateway starts a thread for its first large body. In this test, the
 * thread must first compile its program, and the machine may be busy.
 */
const responseTimeoutMs = 60_000;

function post(url: string, body: string, agent: Agent | undefined): Promise<number | string> {
  return new Promise((resolve) => {
    const headers = { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) };
    const sending = request(url, { method: 'POST', headers, agent: agent ?? false, timeout: responseTimeoutMs });
    sending.on('timeout', () => sending.destroy(new Error('no response')));
    sending.on('error', (error) => resolve(error.message));
    sending.on('response', (response) => {
      response.resume();
      response.on('end', () => resolve(response.statusCode ?? 0));
      response.on('error', (error) => resolve(error.message));
    });
    sending.end(body);
  });
}
