import { readFileSync } from 'node:fs';
import { createEventsTableSql } from './tables.ts';

/**
 * `events.sql` is for installations that read the Kafka topic into their own ClickHouse. Queries read the same table
 * there.
 */
test('deploy/clickhouse/events.sql creates the same events table', () => {
  const file = readFileSync(new URL('../../../../../deploy/clickhouse/events.sql', import.meta.url), 'utf8');
  const words = (text: string) => text.replaceAll(/\s+/g, ' ');
  expect(words(file)).toContain(
    words(createEventsTableSql('events', 'ReplacingMergeTree').replace('EXISTS events', 'EXISTS millrace.events')),
  );
});
