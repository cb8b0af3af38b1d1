import type { Logger, Metrics } from '@millrace/runtime';
import type { ISocketFactory, KafkaConfig } from 'kafkajs';
import type { AppendSettings } from '../append/append-settings.ts';

export interface KafkaLogOptions extends Partial<AppendSettings> {
  /** `host:port` of brokers to begin with. */
  brokers: string[];
  clientId: string;
  logger: Logger;
  metrics?: Metrics;
  ssl?: KafkaConfig['ssl'];
  sasl?: KafkaConfig['sasl'];
  /** Copies of each partition of topics that `ensureTopics` creates; -1 = the broker's default. */
  replicationFactor?: number;
  /** Further settings of topics that `ensureTopics` creates, e.g. `{ 'retention.ms': '604800000' }`. */
  topicConfig?: Record<string, string>;
  /** A member that is silent for this long has lost its partitions. */
  sessionTimeoutMs?: number;
  /** How often a member reports that it is alive, and how soon it learns of a rebalance. */
  heartbeatIntervalMs?: number;
  /** How long a fetch waits for the first record. */
  fetchWaitMs?: number;
  /** How connections are made, e.g. through a proxy; the addresses asked for are the brokers' advertised ones. */
  socketFactory?: ISocketFactory;
}
