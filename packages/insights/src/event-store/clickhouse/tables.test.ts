import { readFileSync } from 'node:fs';
import { createEventsTableSql } from './tables.ts';

/**
 * `events.sql` is for installations whose own ClickHouse reads the Kafka topic. Queries need the same table in these
 * installations.
 */
test('creates the same events table as deploy/clickhouse/events.sql', () => {
  const file = readFileSync(new URL('../../../../../deploy/clickhouse/events.sql', import.meta.url), 'utf8');
  const words = (text: string) => text.replaceAll(/\s+/g, ' ');
  expect(words(file)).toContain(
    words(createEventsTableSql('events', 'ReplacingMergeTree').replace('EXISTS events', 'EXISTS millrace.events')),
  );
});
