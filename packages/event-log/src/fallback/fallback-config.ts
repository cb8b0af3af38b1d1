import { ConfigError, integerSetting } from '@millrace/runtime';
import { Type } from 'typebox';

/** Settings of the log that stands in for Kafka: the same for all gateways and consumers. */
export const fallbackConfigFields = {
  eventLogFallback: Type.Union([Type.Literal('none'), Type.Literal('postgres')], {
    default: 'none',
    description: 'none or postgres: where events go while Kafka is out',
  }),
  eventLogFallbackAfterMs: integerSetting(10_000, 'how long Kafka must be out before they do', { min: 500 }),
} as const;

/** @throws ConfigError when there is no Kafka to stand in for. */
export function usesFallback(config: {
  eventLog: 'kafka' | 'postgres';
  eventLogFallback: 'none' | 'postgres';
}): boolean {
  if (config.eventLogFallback === 'none') return false;
  if (config.eventLog === 'kafka') return true;
  throw new ConfigError(['EVENT_LOG_FALLBACK is of use with EVENT_LOG=kafka only']);
}

/** One topic of the PostgreSQL log holds what waits for all topics of Kafka. */
export function fallbackTopic(topicPrefix: string): string {
  return `${topicPrefix}events.fallback`;
}
