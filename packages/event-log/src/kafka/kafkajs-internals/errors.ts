/**
 * Reason for this workaround: kafkajs treats some errors as permanent that only mean that no broker responded, and
 * stops its consumer. Relies on: the names of kafkajs errors, their `cause`, and the text of one plain `Error`. Test:
 * is-broker-unreachable.test.ts. Remove this workaround when the client retries until brokers are available again.
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
/** The message of the plain `Error` that kafkajs throws if a connection was lost between two steps. */
const lostBetween = 'Broker not connected';

/**
 * Returns whether an error or one of its causes means that no broker responded. kafkajs treats some of these errors as
 * permanent.
 */
export function isBrokerUnreachable(error: unknown): boolean {
  if (typeof error !== 'object' || error === null) return false;
  const { name, message, cause } = error as { name?: unknown; message?: unknown; cause?: unknown };
  return names.has(String(name)) || message === lostBetween || isBrokerUnreachable(cause);
}

/**
 * Reason for this workaround: a new topic is not known to every broker immediately. kafkajs fails permanently with some
 * of the resulting errors, and does not recognize one of them. Relies on: the field `type` of its protocol errors, the
 * name `KafkaJSMetadataNotLoaded`, and `fetchTopicOffsets` reading `partitions` of undefined. Test:
 * is-leader-missing.test.ts. Remove this workaround when kafkajs retries requests about a topic that has no leader yet.
 */

/** The error types that brokers return for partitions that are not known yet or have no leader yet. */
const withoutLeader = new Set(['UNKNOWN_TOPIC_OR_PARTITION', 'LEADER_NOT_AVAILABLE', 'NOT_LEADER_FOR_PARTITION']);

/** Returns whether an error or one of its causes means that the topic may soon be available. */
export function isLeaderMissing(error: unknown): boolean {
  for (let cause = error; cause instanceof Error; cause = cause.cause) {
    if (withoutLeader.has(String((cause as { type?: unknown }).type))) return true;
    // The metadata in kafkajs is out of date, and the next request reads it again.
    if (cause.name === 'KafkaJSMetadataNotLoaded') return true;
    // While the request ran, kafkajs loaded another topic's metadata and discarded the metadata for this topic.
    if (cause instanceof TypeError && cause.message.includes("'partitions'")) return true;
  }
  return false;
}
