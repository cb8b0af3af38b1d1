/** The load generator's process: takes jobs as messages, so that its own work does not stand in the server's numbers. */

import { percentile } from '../report/report.ts';
import { buildRequests } from '../workload/gateway-workloads.ts';
import { sendRequests } from './http-connection.ts';
import type {
  GetLoadMessage,
  LoadAnswer,
  LoadJob,
  LoadMessage,
  LoadResult,
  PreparedLoad,
  RequestsLoadMessage,
} from './measure-gateway.ts';

const answer = (message: LoadAnswer) => process.send?.(message);

process.on('message', (message: LoadMessage | GetLoadMessage | RequestsLoadMessage | { type: 'usage' }) => {
  if (message.type === 'usage') return;
  run(message).then(
    (result) => answer({ type: 'load-result', result }),
    (error: Error) => answer({ type: 'load-failed', message: error.message }),
  );
});
process.send?.({ type: 'listening', port: 0 });

function run(message: LoadMessage | GetLoadMessage | RequestsLoadMessage): Promise<LoadResult> {
  if (message.type === 'load') return runLoad(message);
  if (message.type === 'get-load') return runGetLoad(message);
  const requests = message.requests.map((request) => Buffer.from(request, 'utf8'));
  return repeatRequests({ ...message, requests, eventsPerRequest: 0 });
}

function runGetLoad({ path, headers, ...load }: GetLoadMessage) {
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  const request = Buffer.from(`GET ${path} HTTP/1.1\r\nHost: 127.0.0.1\r\n${lines.join('')}\r\n`, 'latin1');
  return repeatRequests({ ...load, requests: [request], eventsPerRequest: 0 });
}

/** Sends prepared requests over and over for `durationMs`, then waits for the answers that are still due. */
function runLoad(job: LoadJob): Promise<LoadResult> {
  return repeatRequests({ ...job, ...buildRequests(job.workload, job.projectApiKey) });
}

/** The same with any requests. */
async function repeatRequests({
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
