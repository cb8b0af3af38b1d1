import { resetConnectionBuffers, stopIdleRequestQueueTimer } from './connection.ts';
import { requestTopicIds } from './metadata.ts';
import { replaceProduceEncoding } from './produce.ts';

/**
 * Patches kafkajs, once per process. This folder holds everything that reaches inside kafkajs 2.2.4, and the code that
 * only these patches need. Why we use kafkajs, and what would change that: docs/decisions/028-kafka-client.md. With
 * another client, this folder can be deleted.
 *
 * @throws Error when the kafkajs version is not the supported one.
 */
export function patchKafkajs(): void {
  replaceProduceEncoding();
  requestTopicIds();
  stopIdleRequestQueueTimer();
  resetConnectionBuffers();
}
