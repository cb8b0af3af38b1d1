import { randomUUID } from 'node:crypto';
import { sendLoad } from '../load/measure-load.ts';
import type { WatchRun } from '../report/console-report.ts';
import { requestText } from '../workload/gateway-workloads.ts';
import type { ConsoleSystem } from './console-system.ts';
import type { PublishAnswer, PublishMessage } from './publish-events.ts';
import type { WatchedAnswer, WatchMessage } from './watch-streams.ts';

export interface WatchOptions {
  /** Of each busy project. */
  watchers: number;
  eventsPerSecond: number;
  seconds: number;
}

/**
 * What the API costs and how quickly it answers while events arrive, with and without watchers: all projects but the last are busy.
 * Theirs are put on the topic of stored events: a machine that has to store as many would measure that. The last project has a
 * single watcher and a few events, sent through the whole system, which must not wait for the others.
 */
export async function measureWatchers(system: ConsoleSystem, options: WatchOptions): Promise<WatchRun> {
  const { watchers, eventsPerSecond, seconds } = options;
  const busy = system.projects.slice(0, -1);
  const durationMs = seconds * 1000;
  const leaveQuiet = await watchQuiet(system);
  const ask = (message: object) => system.watchers.ask<WatchedAnswer>(message, 'watched');
  const { personalApiKey } = system.database;
  const projectIds = busy.flatMap(({ id }) => Array.from({ length: watchers }, () => id));
  const { open } = await ask({
    type: 'watch',
    port: system.api.port,
    personalApiKey,
    projectIds,
  } satisfies WatchMessage);
  if (open !== projectIds.length) throw new Error(`${open} of ${projectIds.length} streams are open.`);
  const publish = async (forMs: number) => {
    const { brokers, processedTopic: topic } = system;
    const message: PublishMessage = {
      ...{ type: 'publish', brokers, topic, projectIds: busy.map(({ id }) => id) },
      ...{ perSecond: eventsPerSecond, durationMs: forMs },
    };
    const answer = await system.publisher.ask<PublishAnswer>(message, 'published', 'not-published');
    if (answer.type === 'not-published') throw new Error(`The publisher failed: ${answer.message}`);
    return answer.count;
  };
  // Until what was idle is warm.
  await publish(3000);
  await ask({ type: 'count' });
  const before = await system.api.usage();
  const startedAt = performance.now();
  const list = [requestText('GET /api/projects/?limit=10', { authorization: `Bearer ${personalApiKey}` })];
  const questions = { requests: list, connections: 16, requestsPerSecond: 100, durationMs, port: system.api.port };
  const [api, published] = await Promise.all([
    sendLoad(system.questions, questions),
    publish(durationMs),
    sendQuiet(system, seconds),
  ]);
  const elapsedSeconds = (performance.now() - startedAt) / 1000;
  const after = await system.api.usage();
  const watched = await ask({ type: 'count' });
  await ask({ type: 'leave' });
  return {
    streams: watched.open,
    publishedPerSecond: published / elapsedSeconds,
    messages: watched.messages,
    seconds: elapsedSeconds,
    messagesPerSecond: watched.messages / Math.max(1, watched.open) / elapsedSeconds,
    mostPerSecond: watched.mostMessages / elapsedSeconds,
    told: watched.told,
    api,
    apiCores: (after.cpuMicros - before.cpuMicros) / 1e6 / elapsedSeconds,
    apiMaxRssBytes: after.maxRssBytes,
    quietMs: await leaveQuiet(),
  };
}

const sentAt = new Map<string, number>();
const quietEveryMs = 250;
/** An event that has not come so long after the last was sent is given up. */
const patienceMs = 30_000;

async function sendQuiet({ gateway, projects }: ConsoleSystem, seconds: number): Promise<void> {
  for (let one = 0; one < (seconds * 1000) / quietEveryMs; one += 1) {
    const uuid = randomUUID();
    sentAt.set(uuid, performance.now());
    const body = { api_key: projects.at(-1)?.apiKey, uuid, event: 'quiet', distinct_id: 'quiet' };
    const answer = await fetch(`http://127.0.0.1:${gateway.port}/i/v0/e/`, {
      method: 'POST',
      body: JSON.stringify(body),
    });
    if (!answer.ok) throw new Error(`The gateway returned ${answer.status}: ${await answer.text()}`);
    await new Promise((resolve) => setTimeout(resolve, quietEveryMs));
  }
}

/** @returns ends the watch when all that was sent is here, or given up, and tells how long each took. */
async function watchQuiet({ api, database, projects }: ConsoleSystem): Promise<() => Promise<number[]>> {
  sentAt.clear();
  const leaving = new AbortController();
  const headers = { authorization: `Bearer ${database.personalApiKey}` };
  const address = `http://127.0.0.1:${api.port}/api/projects/${projects.at(-1)?.id}/live/events`;
  const response = await fetch(address, { headers, signal: leaving.signal });
  if (!response.ok || response.body === null) throw new Error(`The stream request returned ${response.status}.`);
  const takenMs: number[] = [];
  const reading = (async () => {
    let rest = '';
    for await (const piece of response.body?.pipeThrough(new TextDecoderStream()) ?? []) {
      const frames = (rest + piece).split('\n\n');
      rest = frames.pop() ?? '';
      for (const frame of frames) {
        const uuid = /^data: \{"uuid":"([0-9a-f-]+)"/.exec(frame)?.[1] ?? '';
        const sent = sentAt.get(uuid);
        if (sent !== undefined) takenMs.push(performance.now() - sent);
      }
    }
  })().catch(() => {});
  return async () => {
    const giveUpAt = performance.now() + patienceMs;
    while (takenMs.length < sentAt.size && performance.now() < giveUpAt) {
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
    leaving.abort();
    await reading;
    return [...takenMs, ...Array.from({ length: sentAt.size - takenMs.length }, () => Number.POSITIVE_INFINITY)];
  };
}
