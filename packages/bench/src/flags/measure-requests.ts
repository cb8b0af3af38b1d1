import type { LoadAnswer, LoadResult, RequestsLoadMessage } from '../load/load-job.ts';
import { backendCpuBetween, readBackendCpu } from '../process/backend-cpu.ts';
import type { MeasuredProcess } from '../process/measured-process.ts';
import type { RequestRun } from '../report/flags-measurement.ts';
import type { BenchDatabase } from '../topic/bench-project.ts';

export type RequestLoad = Omit<RequestsLoadMessage, 'type' | 'port'>;

/** Sends requests to a server and tells what one of them cost it, and PostgreSQL. */
export async function measureRequests(
  { server, load, database }: { server: MeasuredProcess; load: MeasuredProcess; database: BenchDatabase },
  requests: RequestLoad,
): Promise<RequestRun> {
  const look = async () => ({ own: await server.usage(), backends: await readBackendCpu(database) });
  const before = await look();
  const result = await sendLoad(load, { ...requests, port: server.port });
  const after = await look();
  const answered = result.acknowledgedRequests;
  return {
    requestsPerSecond: answered / (result.elapsedMs / 1000),
    cpuMicros: (after.own.cpuMicros - before.own.cpuMicros) / answered,
    databaseMicros: backendCpuBetween(before.backends, after.backends) / answered,
    p50Ms: result.p50Ms,
    p99Ms: result.p99Ms,
    maxRssBytes: after.own.maxRssBytes,
    otherStatuses: result.otherStatuses,
  };
}

/** @throws Error when the load generator failed. */
export async function sendLoad(load: MeasuredProcess, job: Omit<RequestsLoadMessage, 'type'>): Promise<LoadResult> {
  const message: RequestsLoadMessage = { type: 'requests-load', ...job };
  const answer = await load.ask<LoadAnswer>(message, 'load-result', 'load-failed');
  if (answer.type === 'load-failed') throw new Error(`The load generator failed: ${answer.message}`);
  return answer.result;
}
