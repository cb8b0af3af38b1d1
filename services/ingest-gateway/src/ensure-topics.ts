import type { TopicNames } from '@millrace/contracts';
import type { EventLog } from '@millrace/event-log';
import type { Logger, Stoppable } from '@millrace/runtime';

const firstDelayMs = 250;
const longestDelayMs = 10_000;

/**
 * Creates the topics in the background, again and again until it works: the gateway must come up and answer while the
 * log is still away.
 */
export function ensureTopics(
  log: Pick<EventLog, 'ensureTopics'>,
  options: { topics: TopicNames; partitions: number; logger: Logger },
): Stoppable & { isDone(): boolean } {
  const { logger, partitions } = options;
  const wanted = Object.values(options.topics).map((topic: string) => ({ topic, partitions }));
  let isDone = false;
  let isStopped = false;
  let timer: NodeJS.Timeout | undefined;

  async function attempt(delayMs: number): Promise<void> {
    try {
      await log.ensureTopics(wanted);
      isDone = true;
    } catch (error) {
      if (isStopped) return;
      logger.warn('the topics could not be looked at or created; trying again', { error, delayMs });
      timer = setTimeout(() => void attempt(Math.min(delayMs * 2, longestDelayMs)), delayMs);
    }
  }

  void attempt(firstDelayMs);
  return {
    isDone: () => isDone,
    stop: async () => {
      isStopped = true;
      clearTimeout(timer);
    },
  };
}
