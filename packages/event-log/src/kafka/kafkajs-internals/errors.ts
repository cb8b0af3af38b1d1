/**
 * Reason: kafkajs treats some errors as final that only mean that no broker responded, and stops its consumer
 * permanently. Relies on: the names of kafkajs errors, their `cause`, and the text of one plain `Error`. Witness:
 * is-broker-unreachable.test.ts. May go: when the client retries until brokers are back.
 */

const names = new Set([
  'KafkaJSGroupCoordinatorNotFound',
  'KafkaJSConnectionError',
  'KafkaJSConnectionClosedError',
  'KafkaJSBrokerNotFound',
  'KafkaJSNoBrokerAvailableError',
  'KafkaJSRequestTimeoutError',
  'KafkaJSLockTimeout',
]);
/** Message of the plain `Error` that kafkajs throws when a connection was lost between two of its steps. */
const lostBetween = 'Broker not connected';

/**
 * Returns whether an error or one of its causes means that no broker responded. kafkajs treats some of these errors as
 * final.
 */
export function isBrokerUnreachable(error: unknown): boolean {
  if (typeof error !== 'object' || error === null) return false;
  const { name, message, cause } = error as { name?: unknown; message?: unknown; cause?: unknown };
  return names.has(String(name)) || message === lostBetween || isBrokerUnreachable(cause);
}

/**
 * Reason: a new topic is not known to every broker immediately. kafkajs fails permanently with some of the resulting
 * errors, and does not recognize one of them. Relies on: the field `type` of its protocol errors, the name
 * `KafkaJSMetadataNotLoaded`, and `fetchTopicOffsets` reading `partitions` of undefined. Witness:
 * is-leader-missing.test.ts. May go: when kafkajs retries requests about a topic that has no leader yet.
 */

/** Error types of brokers for partitions they do not know yet, or that have no leader yet. */
const withoutLeader = new Set(['UNKNOWN_TOPIC_OR_PARTITION', 'LEADER_NOT_AVAILABLE', 'NOT_LEADER_FOR_PARTITION']);

/** Returns whether an error or one of its causes means that the request about the topic may succeed a little later. */
export function isLeaderMissing(error: unknown): boolean {
  for (let cause = error; cause instanceof Error; cause = cause.cause) {
    if (withoutLeader.has(String((cause as { type?: unknown }).type))) return true;
    // kafkajs's metadata is out of date. It is read again at the next request.
    if (cause.name === 'KafkaJSMetadataNotLoaded') return true;
    // kafkajs loaded the metadata of another topic meanwhile, which replaced that of this topic.
    if (cause instanceof TypeError && cause.message.includes("'partitions'")) return true;
  }
  return false;
}
