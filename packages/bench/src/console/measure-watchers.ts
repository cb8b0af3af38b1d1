// Measures how much open streams of live events cost the management API.

import { randomUUID } from 'node:crypto';
import { testServers } from '@millrace/testing';
import { measureCpu } from '../harness/measure-cpu.ts';
import type { measureLoadLatency } from '../load/measure-requests.ts';
import { formatHttpRequest } from '../workload/gateway-workloads.ts';
import type { ConsoleSystem } from './console-system.ts';
import type { publishEvents } from './publish-events.ts';
import type { closeLiveStreams, countLiveMessages, openLiveStreams } from './watch-streams.ts';

/** Events per second in all busy projects together. */
const eventsPerSecond = 5000;

export type WatchRun = Awaited<ReturnType<typeof measureWatchers>>;

/**
 * Measures the cost of live events for the API, and how quickly the API responds, with and without watchers. All
 * projects except the last one are busy. Their events are written directly to the topic of stored events, because
 * storing them would use this machine's CPU. The last project has one watcher and few events, which pass through the
 * whole system. The busy projects should not delay these events.
 */
export async function measureWatchers(system: ConsoleSystem, watchers: number, seconds: number) {
  const { api, workers } = system;
  system.bench.print(`${eventsPerSecond} events/s with ${watchers} watchers of each project, for ${seconds} s`);
  const { personalApiKey } = system.bench.database;
  const busy = system.projects.slice(0, -1).map(({ id }) => id);
  const durationMs = seconds * 1000;
  const quiet = await watchQuietProject(system);
  const watched = busy.flatMap((id) => Array.from({ length: watchers }, () => id));
  const streams = await workers.streams.perform<typeof openLiveStreams>(
    'openLiveStreams',
    api.port,
    personalApiKey,
    watched,
  );
  if (streams !== watched.length) throw new Error(`${streams} of ${watched.length} streams are open.`);
  const publication = {
    brokers: testServers().kafkaBrokers,
    topic: system.processedTopic,
    projectIds: busy,
    perSecond: eventsPerSecond,
  };
  await workers.publisher.perform<typeof publishEvents>('publishEvents', { ...publication, durationMs: 3000 });
  await workers.streams.perform<typeof countLiveMessages>('countLiveMessages');
  const list = formatHttpRequest('GET /api/projects/?limit=10', { authorization: `Bearer ${personalApiKey}` });
  const job = { port: api.port, requests: [list], connections: 16, requestsPerSecond: 100, durationMs };
  const cost = await measureCpu([api], system.bench.database, () =>
    Promise.all([
      workers.requests.perform<typeof measureLoadLatency>('measureLoadLatency', job),
      workers.publisher.perform<typeof publishEvents>('publishEvents', { ...publication, durationMs }),
      quiet.send(durationMs),
    ]),
  );
  const [lists, published] = cost.result;
  const messages = await workers.streams.perform<typeof countLiveMessages>('countLiveMessages');
  await workers.streams.perform<typeof closeLiveStreams>('closeLiveStreams');
  return {
    streams,
    publishedPerSecond: published / cost.seconds,
    maxPerSecond: Math.max(0, ...messages) / cost.seconds,
    lists,
    apiCores: (cost.cpuMicros[0] ?? Number.NaN) / 1e6 / cost.seconds,
    apiMaxRssBytes: cost.maxRssBytes[0] ?? Number.NaN,
    /**
     * Milliseconds until the watcher of the quiet project receives each sent event. Infinity for an event that does not
     * arrive.
     */
    quietMs: await quiet.stop(),
  };
}

const sendEveryMs = 250;
/** How many milliseconds to wait for events after the last one was sent. */
const patienceMs = 30_000;

async function watchQuietProject({ api, gateway, bench, projects }: ConsoleSystem) {
  const project = projects.at(-1);
  const sentAt = new Map<string, number>();
  const takenMs: number[] = [];
  const leaving = new AbortController();
  const address = `http://127.0.0.1:${api.port}/api/projects/${project?.id}/live/events`;
  const headers = { authorization: `Bearer ${bench.database.personalApiKey}` };
  const stream = await fetch(address, { headers, signal: leaving.signal });
  if (!stream.ok || stream.body === null) throw new Error(`The stream request returned ${stream.status}.`);
  const reading = (async () => {
    let rest = '';
    for await (const piece of stream.body?.pipeThrough(new TextDecoderStream()) ?? []) {
      const frames = (rest + piece).split('\n\n');
      rest = frames.pop() ?? '';
      for (const frame of frames) {
        const sent = sentAt.get(/^data: \{"uuid":"([0-9a-f-]+)"/.exec(frame)?.[1] ?? '');
        if (sent !== undefined) takenMs.push(performance.now() - sent);
      }
    }
  })().catch(() => {});
  return {
    async send(durationMs: number): Promise<void> {
      for (let one = 0; one < durationMs / sendEveryMs; one += 1) {
        const uuid = randomUUID();
        sentAt.set(uuid, performance.now());
        const body = JSON.stringify({ api_key: project?.apiKey, uuid, event: 'quiet', distinct_id: 'quiet' });
        const response = await fetch(`http://127.0.0.1:${gateway.port}/i/v0/e/`, { method: 'POST', body });
        if (!response.ok) throw new Error(`The gateway returned ${response.status}: ${await response.text()}`);
        await new Promise((resolve) => setTimeout(resolve, sendEveryMs));
      }
    },
    /** Waits for the sent events, and returns the delay of each event in milliseconds. */
    async stop(): Promise<number[]> {
      const deadline = performance.now() + patienceMs;
      while (takenMs.length < sentAt.size && performance.now() < deadline) {
        await new Promise((resolve) => setTimeout(resolve, 100));
      }
      leaving.abort();
      await reading;
      return [...takenMs, ...Array.from({ length: sentAt.size - takenMs.length }, () => Number.POSITIVE_INFINITY)];
    },
  };
}
