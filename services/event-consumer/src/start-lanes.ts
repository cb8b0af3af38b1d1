import { setTimeout as sleep } from 'node:timers/promises';
import type { TopicNames } from '@millrace/contracts';
import type { EventLog, LogConsumer } from '@millrace/event-log';
import type { Logger, Stoppable } from '@millrace/runtime';
import { describeFailure } from './failures/describe-failure.ts';

export interface StartLanesOptions {
  log: Pick<EventLog, 'ensureTopics'>;
  topics: TopicNames;
  topicPartitions: number;
  /** Work that comes before the lanes; it resolves in any case. */
  before?: Promise<void>;
  /** One function per lane; joins its group. */
  joins: (() => Promise<LogConsumer>)[];
  logger: Logger;
}

export interface RunningLanes extends Stoppable {
  /** True once every lane has joined its group. */
  isReady(): boolean;
}

const firstDelayMs = 250;
const longestDelayMs = 5000;

/**
 * Creates the topics and joins the groups in the background, again and again until the log is there: the process comes
 * up, answers its health checks and waits. Stopping waits for the batches in hand.
 */
export function startLanes({ log, topics, topicPartitions, before, joins, logger }: StartLanesOptions): RunningLanes {
  const stopping = new AbortController();
  const consumers: LogConsumer[] = [];
  let isReady = false;

  async function start(): Promise<void> {
    const wanted = Object.values(topics).map((topic: string) => ({ topic, partitions: topicPartitions }));
    await untilDone('topics', () => log.ensureTopics(wanted));
    await Promise.race([before, aborted(stopping.signal)]);
    for (const join of joins) {
      await untilDone('group', async () => {
        consumers.push(await join());
      });
    }
    if (stopping.signal.aborted) return;
    await Promise.race([Promise.all(consumers.map(({ ready }) => ready)), aborted(stopping.signal)]);
    isReady = !stopping.signal.aborted;
    if (isReady) logger.info('consuming', { lanes: consumers.length });
  }

  async function untilDone(what: string, attempt: () => Promise<void>): Promise<void> {
    for (let delayMs = firstDelayMs; !stopping.signal.aborted; delayMs = Math.min(delayMs * 2, longestDelayMs)) {
      try {
        return await attempt();
      } catch (error) {
        logger.warn('the event log cannot be consumed yet; trying again', { what, delayMs, ...describeFailure(error) });
        await sleep(delayMs, undefined, { signal: stopping.signal }).catch(() => {});
      }
    }
  }

  const started = start();
  return {
    isReady: () => isReady,
    async stop() {
      isReady = false;
      stopping.abort();
      await started;
      await Promise.all(consumers.map((consumer) => consumer.stop()));
    },
  };
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener('abort', () => resolve(), { once: true });
  });
}
