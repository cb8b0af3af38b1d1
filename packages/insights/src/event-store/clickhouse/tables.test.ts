import { readFileSync } from 'node:fs';
import { createEvents } from './tables.ts';

/** The file for those who read the topic into a ClickHouse of their own makes the table that questions are asked of. */
test('deploy/clickhouse/events.sql makes the same table of events', () => {
  const file = readFileSync(new URL('../../../../../deploy/clickhouse/events.sql', import.meta.url), 'utf8');
  const words = (text: string) => text.replaceAll(/\s+/g, ' ');
  expect(words(file)).toContain(words(createEvents('events').replace('EXISTS events', 'EXISTS millrace.events')));
});
