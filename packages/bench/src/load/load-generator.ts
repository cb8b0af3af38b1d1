/** The load generator's process: takes jobs as messages, so that its own work does not stand in the server's numbers. */
import { percentile } from '../report/report.ts';
import { sendRequests } from './http-connection.ts';
import type { LoadAnswer, LoadMessage, LoadResult } from './measure-load.ts';

const answer = (message: LoadAnswer) => process.send?.(message);

process.on('message', (message: LoadMessage | { type: 'usage' }) => {
  if (message.type !== 'load') return;
  run(message).then(
    (result) => answer({ type: 'load-result', result }),
    (error: Error) => answer({ type: 'load-failed', message: error.message }),
  );
});
process.send?.({ type: 'listening', port: 0 });

/** Sends prepared requests over and over for `durationMs`, then waits for the answers that are still due. */
async function run({ requests, status: expected = 200, ...stream }: LoadMessage): Promise<LoadResult> {
  const bytes = requests.map((request) => Buffer.from(request));
  const latencies: number[] = [];
  const otherStatuses: Record<string, number> = {};
  const elapsedMs = await sendRequests({
    ...stream,
    bytesOf: (index) => bytes[index % bytes.length] ?? Buffer.alloc(0),
    onAnswer(_index, status, latencyMs) {
      if (status === expected) latencies.push(latencyMs);
      else otherStatuses[status] = (otherStatuses[status] ?? 0) + 1;
    },
  });
  const times = { p50Ms: percentile(latencies, 0.5), p99Ms: percentile(latencies, 0.99) };
  return { elapsedMs, acknowledged: latencies.length, otherStatuses, ...times };
}
