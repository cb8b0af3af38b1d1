/** What a gateway is started with that is measured. */
export function gatewaySettings({
  databaseUrl,
  redisUrl,
  prefix,
  partitions,
}: {
  databaseUrl: string;
  redisUrl: string;
  prefix: string;
  partitions: number;
}): Record<string, string> {
  return {
    DATABASE_URL: databaseUrl,
    REDIS_URL: redisUrl,
    EVENT_LOG: 'kafka',
    TOPIC_PREFIX: prefix,
    TOPIC_PARTITIONS: String(partitions),
    INGEST_PORT: '0',
    // From one load to another is a spike, and the report of one is a record in the topic that nobody sent.
    SPIKE_WARM_UP_MS: String(60 * 60 * 1000),
  };
}
