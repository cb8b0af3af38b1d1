// Builds and sends the requests of the end-to-end benchmark, which measures when their events appear in the database.

import { sendRequests } from '../load/send-requests.ts';
import { formatHttpRequest } from '../workload/gateway-workloads.ts';
import { generateMixedEvents } from '../workload/mixed-events.ts';

export const eventsPerRequest = 50;

export interface Marker {
  uuid: string;
  /** When the marker's request is due, in milliseconds after the start of the load. */
  dueAfterMs: number;
}

/** Event property with the number of its request, to recognize the events of unacknowledged requests. */
export const requestProperty = 'bench_request';

export interface StampedLoad {
  projectApiKey: string;
  requestsPerSecond: number;
  durationMs: number;
  markerEveryMs: number;
  seed: number;
}

const timePlaceholder = '0000-00-00T00:00:00.000Z';

/**
 * Builds complete `/batch/` requests of 50 mixed events each. Also returns one marker per `markerEveryMs`. The markers
 * are at different positions in their batches. The requests have no `sent_at`, so that timestamps are stored as sent.
 */
export function buildStampedRequests(load: StampedLoad): { requests: Buffer[]; markers: Marker[] } {
  const count = Math.ceil((load.durationMs / 1000) * load.requestsPerSecond);
  const events = generateMixedEvents(count * eventsPerRequest, load.projectApiKey, load.seed);
  const markers: Marker[] = [];
  const requests = Array.from({ length: count }, (_, index) => {
    const batch = Array.from({ length: eventsPerRequest }, () => {
      const { uuid, event, distinct_id, properties } = events.next().value ?? never();
      return {
        uuid,
        event,
        distinct_id,
        timestamp: timePlaceholder,
        properties: { ...properties, [requestProperty]: index },
      };
    });
    const dueAfterMs = (index * 1000) / load.requestsPerSecond;
    const marked = batch[(index * 7) % eventsPerRequest];
    if (marked && dueAfterMs >= markers.length * load.markerEveryMs) {
      markers.push({ uuid: marked.uuid, dueAfterMs });
    }
    return Buffer.from(formatHttpRequest('POST /batch/', {}, { api_key: load.projectApiKey, batch }));
  });
  return { requests, markers };
}

function never(): never {
  throw new Error('There are fewer events than requests need.');
}

const timestampField = Buffer.from('"timestamp":"');

export function stampRequest(request: Buffer, timeMs: number): Buffer {
  const stamp = new Date(timeMs).toISOString();
  for (let at = request.indexOf(timestampField); at >= 0; at = request.indexOf(timestampField, at + 1)) {
    request.write(stamp, at + timestampField.length, 'latin1');
  }
  return request;
}

let prepared: { load: StampedLoad; requests: Buffer[] } | null = null;

/** Runs in a worker: builds the requests for the next `sendPreparedRequests` call and returns their markers. */
export function prepareRequests(load: StampedLoad): Marker[] {
  const { requests, markers } = buildStampedRequests(load);
  prepared = { load, requests };
  return markers;
}

/** Runs in a worker: sends the prepared requests, starting at `startAtMs` (Unix time). */
export async function sendPreparedRequests(port: number, startAtMs: number) {
  if (prepared === null) throw new Error('No requests are prepared.');
  const { load, requests } = prepared;
  let sent = 0;
  const unacknowledged: number[] = [];
  await new Promise((resolve) => setTimeout(resolve, startAtMs - (performance.timeOrigin + performance.now())));
  await sendRequests({
    port,
    connections: 64,
    requestsPerSecond: load.requestsPerSecond,
    durationMs: load.durationMs,
    bytesOf(index, dueAt) {
      const request = requests[index];
      if (request === undefined) throw new Error(`Request ${index} was not prepared.`);
      return stampRequest(request, performance.timeOrigin + dueAt);
    },
    onResponse(index, status) {
      sent += 1;
      if (status !== 200) unacknowledged.push(index);
    },
  });
  return { requests: sent, unacknowledged };
}
