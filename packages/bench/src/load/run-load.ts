import { percentile } from '../report/statistics.ts';
import { buildRequests } from '../workload/gateway-workloads.ts';
import { openHttpConnection } from './http-connection.ts';
import type { LoadJob, LoadResult } from './load-job.ts';

/** Sends prepared requests over and over for `durationMs`, then waits for the answers that are still due. */
export async function runLoad(job: LoadJob): Promise<LoadResult> {
  const { requests, eventsPerRequest } = buildRequests(job.workload, job.projectApiKey);
  const connections = Array.from({ length: job.connections }, () => openHttpConnection(job.port));
  const latencies: number[] = [];
  const otherStatuses: Record<string, number> = {};
  let sent = 0;

  /** One request on one connection; `dueAt` is where its latency starts. */
  function send(connection: (typeof connections)[number], dueAt: number): Promise<void> {
    const bytes = requests[sent++ % requests.length] ?? Buffer.alloc(0);
    return new Promise((resolve) => {
      connection.request(bytes, (status) => {
        if (status === 200) latencies.push(performance.now() - dueAt);
        else otherStatuses[status] = (otherStatuses[status] ?? 0) + 1;
        resolve();
      });
    });
  }

  const startedAt = performance.now();
  const endsAt = startedAt + job.durationMs;
  const takeTurn = job.requestsPerSecond === null ? null : createSchedule(startedAt, endsAt, job.requestsPerSecond);
  await Promise.all(
    connections.map(async (connection) => {
      if (takeTurn === null) {
        while (performance.now() < endsAt) await send(connection, performance.now());
      } else {
        for (let dueAt = takeTurn(); dueAt !== null; dueAt = takeTurn()) {
          await waitUntil(dueAt);
          await send(connection, dueAt);
        }
      }
      connection.close();
    }),
  );
  return {
    elapsedMs: performance.now() - startedAt,
    acknowledgedRequests: latencies.length,
    acknowledgedEvents: latencies.length * eventsPerRequest,
    otherStatuses,
    p50Ms: percentile(latencies, 0.5),
    p99Ms: percentile(latencies, 0.99),
  };
}

/** Hands out the moments at which requests are due; null when the time is over. */
function createSchedule(startedAt: number, endsAt: number, requestsPerSecond: number): () => number | null {
  let turns = 0;
  return () => {
    const dueAt = startedAt + (turns++ * 1000) / requestsPerSecond;
    return dueAt < endsAt ? dueAt : null;
  };
}

async function waitUntil(moment: number): Promise<void> {
  const restMs = moment - performance.now();
  if (restMs > 0) await new Promise((resolve) => setTimeout(resolve, restMs));
}
