import { percentile } from '../report/statistics.ts';
import { buildRequests } from '../workload/gateway-workloads.ts';
import type { LoadJob, LoadResult, PreparedLoad } from './load-job.ts';
import { sendRequests } from './send-requests.ts';

/** Sends prepared requests over and over for `durationMs`, then waits for the answers that are still due. */
export function runLoad(job: LoadJob): Promise<LoadResult> {
  return repeatRequests({ ...job, ...buildRequests(job.workload, job.projectApiKey) });
}

/** The same with any requests. */
export async function repeatRequests({
  requests,
  eventsPerRequest,
  status: expected = 200,
  ...stream
}: PreparedLoad): Promise<LoadResult> {
  const latencies: number[] = [];
  const otherStatuses: Record<string, number> = {};
  const elapsedMs = await sendRequests({
    ...stream,
    bytesOf: (index) => requests[index % requests.length] ?? Buffer.alloc(0),
    onAnswer(_index, status, latencyMs) {
      if (status === expected) latencies.push(latencyMs);
      else otherStatuses[status] = (otherStatuses[status] ?? 0) + 1;
    },
  });
  return {
    elapsedMs,
    acknowledgedRequests: latencies.length,
    acknowledgedEvents: latencies.length * eventsPerRequest,
    otherStatuses,
    p50Ms: percentile(latencies, 0.5),
    p99Ms: percentile(latencies, 0.99),
  };
}
