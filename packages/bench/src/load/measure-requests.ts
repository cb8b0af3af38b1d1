// Sends requests to a server, and measures their latency and cost.

import type { Bench, Worker } from '../harness/bench.ts';
import { measureCpu } from '../harness/measure-cpu.ts';
import type { MeasuredProcess } from '../harness/measured-process.ts';
import { percentile } from '../harness/report.ts';
import { sendRequests } from './send-requests.ts';

export interface LoadJob {
  port: number;
  /** Complete HTTP requests, which are sent one after the other and repeatedly. */
  requests: string[];
  /**
   * Expected status of a response, 200 by default. A response with a different status does not count as acknowledged.
   */
  status?: number;
  connections: number;
  /** The rate of an open loop, or null for a closed loop (see `sendRequests`). */
  requestsPerSecond: number | null;
  durationMs: number;
}

export async function measureLoadLatency({ requests, status: expected = 200, ...stream }: LoadJob) {
  const bytes = requests.map((request) => Buffer.from(request));
  const latencies: number[] = [];
  const otherStatuses: Record<string, number> = {};
  const elapsedMs = await sendRequests({
    ...stream,
    bytesOf: (index) => bytes[index % bytes.length] ?? Buffer.alloc(0),
    onResponse(_index, status, latencyMs) {
      if (status === expected) latencies.push(latencyMs);
      else otherStatuses[status] = (otherStatuses[status] ?? 0) + 1;
    },
  });
  return {
    seconds: elapsedMs / 1000,
    acknowledged: latencies.length,
    /** Number of responses with an unexpected status, by status. A broken connection counts as the status 0. */
    otherStatuses,
    /** Latency of acknowledged requests in milliseconds. */
    p50Ms: percentile(latencies, 0.5),
    p99Ms: percentile(latencies, 0.99),
  };
}

export type RequestRun = Awaited<ReturnType<typeof measureRequests>>;

export async function measureRequests(
  { server, worker, bench }: { server: MeasuredProcess; worker: Worker; bench: Bench },
  job: Omit<LoadJob, 'port'>,
) {
  const cost = await measureCpu([server], bench.database, () =>
    worker.perform<typeof measureLoadLatency>('measureLoadLatency', { ...job, port: server.port }),
  );
  const { acknowledged, seconds } = cost.result;
  return {
    ...cost.result,
    requestsPerSecond: acknowledged / seconds,
    /** The server's CPU time per acknowledged request, in microseconds. */
    cpuMicros: (cost.cpuMicros[0] ?? Number.NaN) / acknowledged,
    /** PostgreSQL's CPU time per acknowledged request, in microseconds. NaN if unknown. */
    databaseMicros: cost.databaseMicros / acknowledged,
    maxRssBytes: cost.maxRssBytes[0] ?? Number.NaN,
  };
}
