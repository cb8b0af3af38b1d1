import { openHttpConnection } from './http-connection.ts';

export interface RequestStream {
  port: number;
  /** Keep-alive connections, each with one request at a time. */
  connections: number;
  /** Requests per second of an open loop; null is a closed one (load-job.ts). */
  requestsPerSecond: number | null;
  durationMs: number;
  /** The bytes of request number `index`; `dueAt` is on the clock of `performance.now`. */
  bytesOf(index: number, dueAt: number): Buffer;
  /** Called with each answer: status 0 = the connection broke; latency counts from the moment the request was due. */
  onAnswer(index: number, status: number, latencyMs: number): void;
}

/**
 * Sends requests for the duration and waits for the answers that are still due.
 * @returns milliseconds from the first request to the last answer.
 */
export async function sendRequests(stream: RequestStream): Promise<number> {
  const connections = Array.from({ length: stream.connections }, () => openHttpConnection(stream.port));
  const startedAt = performance.now();
  const endsAt = startedAt + stream.durationMs;
  let begun = 0;

  function nextRequest(): { index: number; dueAt: number } | null {
    const { requestsPerSecond } = stream;
    const dueAt = requestsPerSecond === null ? performance.now() : startedAt + (begun * 1000) / requestsPerSecond;
    return dueAt < endsAt ? { index: begun++, dueAt } : null;
  }

  await Promise.all(
    connections.map(async (connection) => {
      for (let request = nextRequest(); request !== null; request = nextRequest()) {
        const { index, dueAt } = request;
        await waitUntil(dueAt);
        const bytes = stream.bytesOf(index, dueAt);
        // A timer may fire a part of a millisecond early.
        const countsFrom = Math.min(dueAt, performance.now());
        await new Promise<void>((resolve) => {
          connection.request(bytes, (status) => {
            stream.onAnswer(index, status, performance.now() - countsFrom);
            resolve();
          });
        });
      }
      connection.close();
    }),
  );
  return performance.now() - startedAt;
}

async function waitUntil(moment: number): Promise<void> {
  const restMs = moment - performance.now();
  if (restMs > 0) await new Promise((resolve) => setTimeout(resolve, restMs));
}
