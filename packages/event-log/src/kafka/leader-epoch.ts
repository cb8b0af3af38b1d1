import type { KafkaMessage } from 'kafkajs';

/** The highest epoch of the leaders that wrote the messages; null where they carry none (the format before Kafka 0.11). */
export function newestLeaderEpoch(messages: readonly KafkaMessage[]): number | null {
  // Epochs never fall within a log, so that of the last message is the highest.
  const { batchContext } = (messages.at(-1) ?? {}) as { batchContext?: { partitionLeaderEpoch?: number } };
  return batchContext?.partitionLeaderEpoch ?? null;
}
