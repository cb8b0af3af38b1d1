import type { Logger } from '@millrace/runtime';
import type { Consumer } from 'kafkajs';
import { withDeadline } from '../port/with-deadline.ts';

const intervalMs = 1000;
const lastCommitTimeoutMs = 2000;

/**
 * Commits the group's offsets to Kafka, at most every second. Nothing of ours reads them: they are for tools that show
 * lag, and a commit that fails is replaced by the next one.
 */
export function createKafkaCommits(consumer: Pick<Consumer, 'commitOffsets'>, topic: string, logger: Logger) {
  const reached = new Map<number, bigint>();
  let timer: NodeJS.Timeout | undefined;

  async function commit(): Promise<void> {
    timer = undefined;
    const offsets = [...reached].map(([partition, offset]) => ({ topic, partition, offset: String(offset) }));
    reached.clear();
    if (offsets.length === 0) return;
    try {
      await consumer.commitOffsets(offsets);
    } catch (error) {
      logger.debug('offsets could not be told to Kafka', { topic, error });
    }
  }

  return {
    reached(partition: number, nextOffset: bigint): void {
      reached.set(partition, nextOffset);
      timer ??= setTimeout(commit, intervalMs);
    },
    async stop(): Promise<void> {
      clearTimeout(timer);
      await withDeadline(commit(), lastCommitTimeoutMs, 'committing').catch(() => {});
    },
  };
}

export type KafkaCommits = ReturnType<typeof createKafkaCommits>;
