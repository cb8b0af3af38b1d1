// Opens the event store that a service's settings select.

import { type ClickHouseClient, ClickHouseLogLevel, createClient } from '@clickhouse/client';
import type { ReadPool } from '@millrace/db';
import { ConfigError, createSecretReader, secretSetting } from '@millrace/runtime';
import { type Static, Type } from 'typebox';
import { createClickHouseEngine } from './clickhouse/engine.ts';
import type { EventStore } from './port.ts';
import { createPostgresEngine } from './postgres/engine.ts';
import { createEventStore } from './store.ts';

export type { ClickHouseClient };

/** Settings shared by all services that run queries. */
export const eventStoreFields = {
  eventStore: Type.Union([Type.Literal('postgres'), Type.Literal('clickhouse')], {
    default: 'postgres',
    description:
      'database that insight queries, event lists and batch exports read from. Must be the same for the management API and the delivery worker',
  }),
  ...secretSetting(
    'clickhouseUrl',
    Type.Optional(
      Type.String({
        pattern: '^https?://[^\\s]+$',
        description:
          'with EVENT_STORE=clickhouse: URL of ClickHouse, for example http://user:password@host:8123/database',
      }),
    ),
    'at startup',
  ),
};
export type EventStoreConfig = Static<ReturnType<typeof Type.Object<typeof eventStoreFields>>>;

/**
 * Query time limit on ClickHouse. The limit is lower than on PostgreSQL, because ClickHouse is faster and a slow query
 * delays other queries.
 */
const longestOnClickHouseMs = 15_000;

export interface OpenEventStore {
  events: EventStore;
  /** The ClickHouse connection, or null if PostgreSQL is the event store. */
  clickhouse: ClickHouseClient | null;
  maxMs: number;
  stop(): Promise<void>;
}

/**
 * Connects to ClickHouse. The timeout is long enough for copying, which takes longer than a query.
 * @param url a URL of the form http(s)://user:password@host:8123/database
 */
export const connectClickHouse = (url: string): ClickHouseClient =>
  createClient({
    url,
    application: 'millrace',
    request_timeout: 300_000,
    // Load balancers close idle connections, so progress headers keep the connection busy.
    clickhouse_settings: { send_progress_in_http_headers: 1, http_headers_progress_interval_ms: '10000' },
    // The caller reports errors, so the client does not log them.
    log: { level: ClickHouseLogLevel.OFF },
  });

/**
 * @param reader the read-only connections to PostgreSQL
 * @throws ConfigError if ClickHouse is selected and its URL is missing
 */
export function openEventStore(
  config: EventStoreConfig,
  { reader, maxMs }: { reader: Pick<ReadPool, 'read'>; maxMs: number },
): OpenEventStore {
  if (config.eventStore === 'postgres') {
    return { events: createEventStore(createPostgresEngine(reader)), clickhouse: null, maxMs, stop: async () => {} };
  }
  const url = createSecretReader(config, 'clickhouseUrl')?.();
  if (url === undefined) throw new ConfigError(['CLICKHOUSE_URL is required with EVENT_STORE=clickhouse']);
  const longestMs = Math.min(maxMs, longestOnClickHouseMs);
  const client = connectClickHouse(url);
  return {
    events: createEventStore(createClickHouseEngine(client)),
    clickhouse: client,
    maxMs: longestMs,
    stop: () => client.close(),
  };
}
