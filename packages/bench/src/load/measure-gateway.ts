import { setTimeout as sleep } from 'node:timers/promises';
import type { MeasuredProcess } from '../process/measured-process.ts';
import type { LoadAnswer, LoadJob, LoadMessage, LoadResult } from './load-job.ts';

export interface LoadedGateway extends LoadResult {
  /** Of the gateway, for each acknowledged event. */
  cpuMicrosPerEvent: number;
  /** Since its start. */
  maxRssBytes: number;
}

/**
 * Has the load generator load a gateway.
 *
 * @param settleMs how long after the load the gateway's CPU still counts.
 * @throws Error when the generator failed.
 */
export async function measureGateway(
  gateway: MeasuredProcess,
  load: MeasuredProcess,
  job: Omit<LoadJob, 'port'>,
  { settleMs = 0 }: { settleMs?: number } = {},
): Promise<LoadedGateway> {
  const before = await gateway.usage();
  const message: LoadMessage = { type: 'load', ...job, port: gateway.port };
  const answer = await load.ask<LoadAnswer>(message, 'load-result', 'load-failed');
  if (answer.type === 'load-failed') throw new Error(`The load generator failed: ${answer.message}`);
  await sleep(settleMs);
  const after = await gateway.usage();
  const { result } = answer;
  return {
    ...result,
    cpuMicrosPerEvent: (after.cpuMicros - before.cpuMicros) / result.acknowledgedEvents,
    maxRssBytes: after.maxRssBytes,
  };
}
