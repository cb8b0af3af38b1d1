/** The process that generates load. It performs one job at a time and returns the job's result (see `Worker`). */
import { publishEvents } from './console/publish-events.ts';
import { closeLiveStreams, countLiveMessages, openLiveStreams } from './console/watch-streams.ts';
import { prepareRequests, sendPreparedRequests } from './e2e/stamped-requests.ts';
import { measureEvaluationCpu } from './flags/evaluators.ts';
import { measureLoadLatency } from './load/measure-requests.ts';

const jobs: Record<string, (...parameters: never[]) => unknown> = {
  measureLoadLatency,
  prepareRequests,
  sendPreparedRequests,
  measureEvaluationCpu,
  publishEvents,
  openLiveStreams,
  countLiveMessages,
  closeLiveStreams,
};

type JobMessage = { type: 'job'; name: string; parameters: never[] } | { type: 'usage' };

process.on('message', async (message: JobMessage) => {
  if (message.type !== 'job') return;
  try {
    process.send?.({ type: 'done', result: await jobs[message.name]?.(...message.parameters) });
  } catch (error) {
    process.send?.({ type: 'failed', message: error instanceof Error ? error.stack : String(error) });
  }
});
process.send?.({ type: 'listening', port: 0 });
