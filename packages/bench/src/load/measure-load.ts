import { backendCpuBetween, readBackendCpu } from '../process/backend-cpu.ts';
import type { MeasuredProcess } from '../process/measured-process.ts';
import type { RequestRun } from '../report/report.ts';
import type { BenchDatabase } from '../topic/bench-project.ts';

/** What the load generator is asked to do; it travels as a message between processes, as its answer does. */
export interface LoadJob {
  port: number;
  /** Whole requests as text, made before the clock runs, sent in turn over and over. */
  requests: string[];
  /** What counts as an acknowledgement; 200 where nothing is said. */
  status?: number;
  /** Keep-alive connections, each with one request at a time. */
  connections: number;
  /**
   * Requests per second of an open loop: requests are due at fixed moments whether or not the server keeps up, and
   * latency counts from the moment a request was due. Null is a closed loop: each connection sends as soon as it can.
   */
  requestsPerSecond: number | null;
  durationMs: number;
}

export interface LoadMessage extends LoadJob {
  type: 'load';
}

export type LoadAnswer = { type: 'load-result'; result: LoadResult } | { type: 'load-failed'; message: string };

export interface LoadResult {
  /** From the first request to the last answer. */
  elapsedMs: number;
  acknowledged: number;
  /** Requests answered otherwise, by status; 0 = the connection broke. */
  otherStatuses: Record<string, number>;
  /** Of acknowledged requests, milliseconds. */
  p50Ms: number;
  p99Ms: number;
}

/** @throws Error when the load generator failed. */
export async function sendLoad(load: MeasuredProcess, job: LoadJob): Promise<LoadResult> {
  const message: LoadMessage = { type: 'load', ...job };
  const answer = await load.ask<LoadAnswer>(message, 'load-result', 'load-failed');
  if (answer.type === 'load-failed') throw new Error(`The load generator failed: ${answer.message}`);
  return answer.result;
}

/** Sends requests to a server and tells what one of them cost it, and PostgreSQL. */
export async function measureRequests(
  { server, load, database }: { server: MeasuredProcess; load: MeasuredProcess; database: BenchDatabase },
  job: Omit<LoadJob, 'port'>,
): Promise<RequestRun> {
  const look = async () => ({ own: await server.usage(), backends: await readBackendCpu(database) });
  const before = await look();
  const { elapsedMs, ...result } = await sendLoad(load, { ...job, port: server.port });
  const after = await look();
  return {
    ...result,
    requestsPerSecond: result.acknowledged / (elapsedMs / 1000),
    cpuMicros: (after.own.cpuMicros - before.own.cpuMicros) / result.acknowledged,
    databaseMicros: backendCpuBetween(before.backends, after.backends) / result.acknowledged,
    maxRssBytes: after.own.maxRssBytes,
  };
}
