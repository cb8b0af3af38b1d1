import { requestText } from '../workload/gateway-workloads.ts';
import { mixedEvents } from '../workload/mixed-events.ts';

export const eventsPerRequest = 50;

/** One event of a request whose way is followed to the database. */
export interface Marker {
  uuid: string;
  distinctId: string;
  /** When its request is due, from the start of the load. */
  dueAfterMs: number;
}

/** The property that names an event's request, so that events of requests nobody acknowledged can be told apart. */
export const requestProperty = 'bench_request';

const unstamped = '0000-00-00T00:00:00.000Z';

export interface StampedRequests {
  requests: Buffer[];
  markers: Marker[];
}

/**
 * Whole `/batch/` requests of 50 mixed events each, made before the clock runs, and one marker for every
 * `markerEveryMs`, at another position of its batch each time. Without `sent_at`: timestamps are stored as they were sent.
 */
export function buildStampedRequests(
  projectApiKey: string,
  load: { requestsPerSecond: number; durationMs: number; markerEveryMs: number; seed?: number },
): StampedRequests {
  const count = Math.ceil((load.durationMs / 1000) * load.requestsPerSecond);
  const events = mixedEvents(count * eventsPerRequest, projectApiKey, load.seed);
  const markers: Marker[] = [];
  const requests = Array.from({ length: count }, (_, index) => {
    const batch = Array.from({ length: eventsPerRequest }, () => {
      const { value } = events.next();
      const { uuid, event, distinct_id, properties } = value as NonNullable<typeof value>;
      return {
        uuid,
        event,
        distinct_id,
        timestamp: unstamped,
        properties: { ...properties, [requestProperty]: index },
      };
    });
    const dueAfterMs = (index * 1000) / load.requestsPerSecond;
    if (dueAfterMs >= markers.length * load.markerEveryMs) {
      const marked = batch[(index * 7) % eventsPerRequest];
      if (marked) markers.push({ uuid: marked.uuid, distinctId: marked.distinct_id, dueAfterMs });
    }
    return Buffer.from(requestText('POST /batch/', {}, { api_key: projectApiKey, batch }));
  });
  return { requests, markers };
}

/** Writes the time into all events of a request, over the stand-in or an earlier time. */
export function stampRequest(request: Buffer, timeMs: number): Buffer {
  const stamp = new Date(timeMs).toISOString();
  for (const offset of stampOffsets(request)) request.write(stamp, offset, 'latin1');
  return request;
}

const stampField = Buffer.from('"timestamp":"');

function stampOffsets(request: Buffer): number[] {
  const offsets: number[] = [];
  for (let at = request.indexOf(stampField); at >= 0; at = request.indexOf(stampField, at + stampField.length)) {
    offsets.push(at + stampField.length);
  }
  return offsets;
}
