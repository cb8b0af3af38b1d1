/** The process in which `pnpm bench store` stores, with the consumer's own functions and the consumer's memory setting. */
import { createDatabase } from '@millrace/db';
import { createLogger, environment } from '@millrace/runtime';
import { createMonthPartition, monthOf } from '../../../../services/event-consumer/src/events/store.ts';
import { mixedEvents } from '../workload/mixed-events.ts';
import {
  copySide,
  createManySide,
  personSide,
  processBatchSide,
  runStreams,
  type StoreJob,
  type Stream,
} from './event-sides.ts';
export type StoreSide = 'copy' | 'createMany' | 'processBatch' | 'persons';

/** Makes the work ready and does a fifth of it, to warm up. */
export interface PrepareMessage {
  type: 'prepare';
  side: StoreSide;
  count: number;
  streams: number;
  projectId: number;
  projectApiKey: string;
}
/** Does the rest. */
export interface StoreMessage {
  type: 'store';
}
export type StoreAnswer =
  | { type: 'prepared' }
  | { type: 'stored'; count: number; elapsedMs: number }
  | { type: 'failed'; message: string };

const warmUpShare = 0.2;
const answer = (message: StoreAnswer) => process.send?.(message);
const database = createDatabase({
  url: environment().DATABASE_URL ?? '',
  logger: createLogger('store-worker', 'warn'),
  applicationName: 'store-worker',
});
let rest: Stream[] = [];

process.on('message', (message: PrepareMessage | StoreMessage | { type: 'usage' }) => {
  const work = message.type === 'prepare' ? prepare(message) : message.type === 'store' ? store() : null;
  work?.then(answer, (error: Error) => answer({ type: 'failed', message: error.stack ?? error.message }));
});
process.on('SIGTERM', () => void database.stop().finally(() => process.exit(0)));
process.send?.({ type: 'listening', port: 0 });

async function prepare(message: PrepareMessage): Promise<StoreAnswer> {
  const month = monthOf(Date.now());
  if (month !== null) await database.transaction((tx) => createMonthPartition(tx, month));
  const streams = await streamsOf(message);
  const warmUp = (stream: Stream) => Math.ceil(stream.length * warmUpShare);
  await runStreams(streams.map((stream) => stream.slice(0, warmUp(stream))));
  rest = streams.map((stream) => stream.slice(warmUp(stream)));
  return { type: 'prepared' };
}

async function streamsOf({ side, count, streams, projectId, projectApiKey }: PrepareMessage): Promise<Stream[]> {
  const job: StoreJob = { database, projectId, streams };
  if (side === 'persons') return personSide(job, count);
  const events = [...mixedEvents(count, projectApiKey)];
  switch (side) {
    case 'copy':
      return copySide(job, events);
    case 'createMany':
      return createManySide(job, events);
    case 'processBatch':
      return processBatchSide(job, events);
  }
}

async function store(): Promise<StoreAnswer> {
  const startedAt = performance.now();
  const count = await runStreams(rest);
  return { type: 'stored', count, elapsedMs: performance.now() - startedAt };
}
