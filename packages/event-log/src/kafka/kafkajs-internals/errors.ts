/**
 * Reason: kafkajs calls some errors final that only say that no broker answered, and stops its consumer for good.
 * Relies on: the names of kafkajs's errors, their `cause`, and the text of one plain `Error`.
 * Witness: is-broker-away.test.ts.
 * May go: when the client continues by itself until brokers are back.
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
/** A plain `Error` of kafkajs, for a connection that was lost between two of its steps. */
const lostBetween = 'Broker not connected';

/** Whether an error says, itself or through its causes, that no broker answered; kafkajs calls some of these final. */
export function isBrokerAway(error: unknown): boolean {
  if (typeof error !== 'object' || error === null) return false;
  const { name, message, cause } = error as { name?: unknown; message?: unknown; cause?: unknown };
  return names.has(String(name)) || message === lostBetween || isBrokerAway(cause);
}

/**
 * Reason: a topic that was just made is not known to every broker yet. kafkajs ends with some of these errors for good, and
 * one of them it does not know as one.
 * Relies on: the field `type` of its protocol errors, the name `KafkaJSMetadataNotLoaded`, and `fetchTopicOffsets` reading
 * `partitions` of nothing.
 * Witness: is-without-leader.test.ts.
 * May go: when kafkajs asks again by itself about a topic that has no leader yet.
 */

/** What brokers answer about partitions they do not know (yet), or that have no leader (yet). */
const withoutLeader = new Set(['UNKNOWN_TOPIC_OR_PARTITION', 'LEADER_NOT_AVAILABLE', 'NOT_LEADER_FOR_PARTITION']);

/** Whether an error says, itself or through its causes, that asking about the topic may succeed a little later. */
export function isWithoutLeader(error: unknown): boolean {
  for (let cause = error; cause instanceof Error; cause = cause.cause) {
    if (withoutLeader.has(String((cause as { type?: unknown }).type))) return true;
    // Says that the layout it has is out of date; it reads it again the next time.
    if (cause.name === 'KafkaJSMetadataNotLoaded') return true;
    // It was asked about another topic meanwhile, has forgotten this one, and reads a field of nothing.
    if (cause instanceof TypeError && cause.message.includes("'partitions'")) return true;
  }
  return false;
}
