/**
 * Reason: kafkajs calls some errors final that only say that no broker answered, and stops its consumer for good.
 * Relies on: the names of kafkajs's errors, their `cause`, and the text of one plain `Error`.
 * Witness: is-broker-away.test.ts.
 * May go: when the client goes on by itself until brokers are back.
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
