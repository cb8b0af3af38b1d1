import { setTimeout as sleep } from 'node:timers/promises';
import type { StoryEvent } from '@millrace/testing';
import { sendEvents } from './client-load.ts';

/** Sends a story, each client its own stream in its order, with pauses whenever somebody wants to look. */
export interface StoryLoad {
  /** Nothing when it is running already. */
  resume(): void;
  /** Resolves when nothing is under way. */
  pause(): Promise<void>;
  /** What was acknowledged, by client. */
  sent(): StoryEvent[][];
  /** The longest that a client had to try until a request was acknowledged. */
  longestGapMs(): number;
  /** True when there is nothing left to send. */
  isOver(): boolean;
}

const batchSize = 25;
const retryPauseMs = 200;

/** @param url where all clients send to, or where each of them does now, by its number. */
export function createStoryLoad(
  url: string | ((client: number) => string),
  projectApiKey: string,
  story: { streams: readonly (readonly StoryEvent[])[]; eventsPerSecond: number },
): StoryLoad {
  const { streams } = story;
  const positions = streams.map(() => 0);
  const pauseMs = (batchSize * streams.length * 1000) / story.eventsPerSecond;
  let isRunning = false;
  let running: Promise<unknown> = Promise.resolve();

  const urlOf = typeof url === 'string' ? () => url : url;
  let longestGapMs = 0;

  async function post(batch: readonly StoryEvent[], client: number): Promise<boolean> {
    const body = JSON.stringify({ api_key: projectApiKey, batch });
    return (await sendEvents(`${urlOf(client)}/batch/`, body)) === 200;
  }

  async function client(stream: readonly StoryEvent[], index: number): Promise<void> {
    while (isRunning) {
      const from = positions[index] ?? 0;
      const batch = stream.slice(from, from + batchSize);
      if (batch.length === 0) return;
      const dueAt = performance.now() + pauseMs;
      // A batch is never given up: whether its events are in the log would not be known.
      const askedAt = performance.now();
      while (!(await post(batch, index))) await sleep(retryPauseMs);
      longestGapMs = Math.max(longestGapMs, performance.now() - askedAt);
      positions[index] = from + batch.length;
      await sleep(Math.max(0, dueAt - performance.now()));
    }
  }

  return {
    resume() {
      // Twice the same stream at once would not be one in its order, and only one of them would be waited for.
      if (isRunning) return;
      isRunning = true;
      running = Promise.all(streams.map(client));
    },
    async pause() {
      isRunning = false;
      await running;
    },
    sent: () => streams.map((stream, index) => stream.slice(0, positions[index])),
    longestGapMs: () => longestGapMs,
    isOver: () => streams.every((stream, index) => (positions[index] ?? 0) >= stream.length),
  };
}
