import { ConfigError, readConfig } from '@millrace/runtime';
import { configuredTopics, consumerConfigSchema } from './config.ts';

const databaseUrl = { DATABASE_URL: 'postgresql://x' };

test('the consumer reads all topics by default, and processes the historical topic strictly in order', () => {
  const config = readConfig(consumerConfigSchema, databaseUrl);
  expect(configuredTopics(config)).toEqual([
    { topic: 'live', partitionConcurrency: 3 },
    { topic: 'historical', partitionConcurrency: 1 },
    { topic: 'overflow', partitionConcurrency: 1 },
  ]);
  expect(config).toMatchObject({ healthPort: 8001, maxBatchRecords: 500, eventLog: 'kafka' });
});

test('the consumer reads the given topics, without duplicates', () => {
  const config = readConfig(consumerConfigSchema, {
    ...databaseUrl,
    CONSUMER_TOPICS: 'historical,live,live',
    LIVE_PARTITION_CONCURRENCY: '9',
  });
  expect(configuredTopics(config)).toEqual([
    { topic: 'live', partitionConcurrency: 9 },
    { topic: 'historical', partitionConcurrency: 1 },
  ]);
});

test('the consumer reports all invalid settings together', () => {
  const wrong = { CONSUMER_TOPICS: 'live;overflow', EVENT_LOG: 'redis', MAX_BATCH_RECORDS: '0' };
  const read = () => readConfig(consumerConfigSchema, wrong);
  expect(read).toThrow(ConfigError);
  for (const name of ['DATABASE_URL', 'CONSUMER_TOPICS', 'EVENT_LOG', 'MAX_BATCH_RECORDS']) expect(read).toThrow(name);
});
