/** The process that sends the load of `pnpm bench e2e`, so that its work does not stand in the way of the watcher. */
import { sendRequests } from '../load/http-connection.ts';
import { percentile } from '../report/report.ts';
import { buildStampedRequests, type Marker, type StampedRequests, stampRequest } from './stamped-requests.ts';

export interface PrepareMessage {
  type: 'prepare';
  projectApiKey: string;
  requestsPerSecond: number;
  durationMs: number;
  markerEveryMs: number;
  /** Other events for each run. */
  seed: number;
}
export interface PreparedAnswer {
  type: 'prepared';
  markers: Marker[];
}
/** Starts what was prepared, at a moment of the wall clock. */
export interface StartMessage {
  type: 'start';
  port: number;
  connections: number;
  startAtMs: number;
}
export interface SentAnswer {
  type: 'sent';
  requests: number;
  /** Requests by index that were answered otherwise than by 200, or not at all. */
  unacknowledged: number[];
  /** Of acknowledged requests, from the moment they were due. */
  p50Ms: number;
  p99Ms: number;
}

let prepared: { message: PrepareMessage; load: StampedRequests } | null = null;

process.on('message', (message: PrepareMessage | StartMessage | { type: 'usage' }) => {
  if (message.type === 'prepare') {
    prepared = { message, load: buildStampedRequests(message.projectApiKey, message) };
    process.send?.({ type: 'prepared', markers: prepared.load.markers } satisfies PreparedAnswer);
  } else if (message.type === 'start') {
    void send(message);
  }
});
process.send?.({ type: 'listening', port: 0 });

async function send({ port, connections, startAtMs }: StartMessage): Promise<void> {
  if (prepared === null) throw new Error('no requests are prepared');
  const { message, load } = prepared;
  const latencies: number[] = [];
  const unacknowledged: number[] = [];
  await new Promise((resolve) => setTimeout(resolve, startAtMs - (performance.timeOrigin + performance.now())));
  await sendRequests({
    port,
    connections,
    requestsPerSecond: message.requestsPerSecond,
    durationMs: message.durationMs,
    bytesOf(index, dueAt) {
      const request = load.requests[index];
      if (request === undefined) throw new Error(`request ${index} was not prepared`);
      return stampRequest(request, performance.timeOrigin + dueAt);
    },
    onAnswer(index, status, latencyMs) {
      if (status === 200) latencies.push(latencyMs);
      else unacknowledged.push(index);
    },
  });
  process.send?.({
    type: 'sent',
    requests: latencies.length + unacknowledged.length,
    unacknowledged,
    p50Ms: percentile(latencies, 0.5),
    p99Ms: percentile(latencies, 0.99),
  } satisfies SentAnswer);
}
