import { readFileSync } from 'node:fs';
import { createEventsTableSql } from './tables.ts';

/** Operators use `events.sql` if their own ClickHouse reads events from Kafka. Queries need the same table there. */
test('creates the same events table as deploy/clickhouse/events.sql', () => {
  const file = readFileSync(new URL('../../../../../deploy/clickhouse/events.sql', import.meta.url), 'utf8');
  const words = (text: string) => text.replaceAll(/\s+/g, ' ');
  expect(words(file)).toContain(
    words(createEventsTableSql('events', 'ReplacingMergeTree').replace('EXISTS events', 'EXISTS millrace.events')),
  );
});
