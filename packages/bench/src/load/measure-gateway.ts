import type { MeasuredProcess } from '../process/measured-process.ts';
import type { WorkloadName } from '../workload/gateway-workloads.ts';

export interface LoadedGateway extends LoadResult {
  /** CPU of the gateway for each acknowledged event. */
  cpuMicrosPerEvent: number;
  /** Since its start. */
  maxRssBytes: number;
}

/**
 * Has the load generator load a gateway.
 *
 * @throws Error when the generator failed.
 */
export async function measureGateway(
  gateway: MeasuredProcess,
  load: MeasuredProcess,
  job: Omit<LoadJob, 'port'>,
): Promise<LoadedGateway> {
  const before = await gateway.usage();
  const message: LoadMessage = { type: 'load', ...job, port: gateway.port };
  const answer = await load.ask<LoadAnswer>(message, 'load-result', 'load-failed');
  if (answer.type === 'load-failed') throw new Error(`The load generator failed: ${answer.message}`);
  const after = await gateway.usage();
  const { result } = answer;
  return {
    ...result,
    cpuMicrosPerEvent: (after.cpuMicros - before.cpuMicros) / result.acknowledgedEvents,
    maxRssBytes: after.maxRssBytes,
  };
}

/** What the load generator is asked to do, and what it answers; both travel as messages between processes. */
export interface LoadJob {
  port: number;
  workload: WorkloadName;
  projectApiKey: string;
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

/** Whole requests as bytes, sent over and over, instead of a named workload. */
export interface PreparedLoad extends Omit<LoadJob, 'workload' | 'projectApiKey'> {
  requests: Buffer[];
  /** 0 when the requests carry none. */
  eventsPerRequest: number;
  /** What counts as an acknowledgement; 200 where nothing is said. */
  status?: number;
}

/** A GET of one path, over and over. */
export interface GetLoadMessage extends Omit<PreparedLoad, 'requests' | 'eventsPerRequest'> {
  type: 'get-load';
  path: string;
  headers: Record<string, string>;
}

/** Any requests, each a whole one as text, in turn. */
export interface RequestsLoadMessage extends Omit<PreparedLoad, 'requests' | 'eventsPerRequest'> {
  type: 'requests-load';
  requests: string[];
}

export type LoadAnswer = { type: 'load-result'; result: LoadResult } | { type: 'load-failed'; message: string };

export interface LoadResult {
  /** From the first request to the last answer. */
  elapsedMs: number;
  acknowledgedRequests: number;
  acknowledgedEvents: number;
  /** Requests answered otherwise, by status; 0 = the connection broke. */
  otherStatuses: Record<string, number>;
  /** Latency of acknowledged requests, in milliseconds. */
  p50Ms: number;
  p99Ms: number;
}
