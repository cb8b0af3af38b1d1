import { resetConnectionBuffers, stopIdleRequestQueueTimer } from './connection.ts';
import { installMetadataWithTopicIds } from './metadata.ts';
import { installProduceEncoder } from './produce.ts';

/**
 * Patches kafkajs, once per process. This folder contains everything that depends on the internals of kafkajs 2.2.4,
 * and the code that only these patches need. docs/decisions/028-kafka-client.md explains why we use kafkajs, and what
 * would change that. With another client, this folder can be deleted.
 * @throws Error if the version of kafkajs is not supported
 */
export function patchKafkajs(): void {
  installProduceEncoder();
  installMetadataWithTopicIds();
  stopIdleRequestQueueTimer();
  resetConnectionBuffers();
}
