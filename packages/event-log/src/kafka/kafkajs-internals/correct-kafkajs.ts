import { beginConnectionsAfresh, stopIdleRequestQueueTimer } from './connection.ts';
import { useTopicIds } from './metadata.ts';
import { useOwnProduceEncoding } from './produce.ts';

/**
 * Replaces parts of kafkajs by ours, once per process. This folder holds everything that reaches inside kafkajs 2.2.4,
 * and what only those parts need. Why it is kafkajs, and what would change that: docs/decisions/028-kafka-client.md.
 * With another client the folder goes.
 *
 * @throws Error when kafkajs is not the one the parts were written for.
 */
export function correctKafkajs(): void {
  useOwnProduceEncoding();
  useTopicIds();
  stopIdleRequestQueueTimer();
  beginConnectionsAfresh();
}
