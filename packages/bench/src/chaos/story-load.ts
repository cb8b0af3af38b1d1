// Sends the events of a chaos test, and retries each request until it is acknowledged.

import { setTimeout as sleep } from 'node:timers/promises';
import { type StoryEvent, sendEvents } from '@millrace/testing';

const batchSize = 25;
const retryPauseMs = 200;

/**
 * Sends a story. Each client sends its stream in order and can be paused.
 * @param urls the gateway URLs. After a failure, a client switches to the next URL, as a load balancer would.
 */
export function createStoryLoad(
  urls: readonly string[],
  projectApiKey: string,
  { streams, eventsPerSecond }: { streams: readonly (readonly StoryEvent[])[]; eventsPerSecond: number },
) {
  const positions = streams.map(() => 0);
  const pauseMs = (batchSize * streams.length * 1000) / eventsPerSecond;
  let isRunning = false;
  let running: Promise<unknown> = Promise.resolve();
  let longestMs = 0;

  /** Retry without a limit. If a batch has no response, it is unknown whether the batch is in the log. */
  async function post(batch: readonly StoryEvent[], client: number): Promise<void> {
    const body = JSON.stringify({ api_key: projectApiKey, batch });
    for (let tries = 0; (await sendEvents(`${urls[(client + tries) % urls.length]}/batch/`, body)) !== 200; tries++) {
      await sleep(retryPauseMs);
    }
  }

  async function runClient(stream: readonly StoryEvent[], client: number): Promise<void> {
    while (isRunning) {
      const from = positions[client] ?? 0;
      const batch = stream.slice(from, from + batchSize);
      if (batch.length === 0) return;
      const startedAt = performance.now();
      await post(batch, client);
      longestMs = Math.max(longestMs, performance.now() - startedAt);
      positions[client] = from + batch.length;
      await sleep(Math.max(0, startedAt + pauseMs - performance.now()));
    }
  }

  return {
    resume(): void {
      // Sending the same stream twice at the same time would mix up its order.
      if (isRunning) return;
      isRunning = true;
      running = Promise.all(streams.map(runClient));
    },
    async pause(): Promise<void> {
      isRunning = false;
      await running;
    },
    sent: () => streams.map((stream, client) => stream.slice(0, positions[client])),
    /** Sends each client's last `count` acknowledged events again. */
    async sendAgain(count: number): Promise<void> {
      await Promise.all(
        streams.map((stream, client) => {
          const end = positions[client] ?? 0;
          return post(stream.slice(Math.max(0, end - count), end), client);
        }),
      );
    },
    /** Returns the longest time that a request took to be acknowledged, including retries, since the previous call. */
    takeLongestMs(): number {
      const longest = longestMs;
      longestMs = 0;
      return longest;
    },
    isOver: () => streams.every((stream, client) => (positions[client] ?? 0) >= stream.length),
  };
}
