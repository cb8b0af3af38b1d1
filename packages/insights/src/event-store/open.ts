// Which engine answers questions, by the settings of a service.

import { type ClickHouseClient, ClickHouseLogLevel, createClient } from '@clickhouse/client';
import type { Reader } from '@millrace/db';
import { ConfigError, secretOf, secretSetting } from '@millrace/runtime';
import { type Static, Type } from 'typebox';
import { clickhouseEngine } from './clickhouse/engine.ts';
import type { EventStore } from './port.ts';
import { postgresEngine } from './postgres/engine.ts';
import { createEventStore } from './store.ts';

export type { ClickHouseClient };

/** Settings of every service that asks questions. */
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

/** A question that takes longer keeps the others waiting; ClickHouse has fewer excuses. */
const longestOnClickHouseMs = 15_000;

export interface OpenEventStore {
  events: EventStore;
  /** Null where PostgreSQL answers. */
  clickhouse: ClickHouseClient | null;
  /** Of one question, at most. */
  maxMs: number;
  stop(): Promise<void>;
}

/** Copying takes longer than a question. @param url http(s)://user:password@host:8123/database */
export const connectClickHouse = (url: string): ClickHouseClient =>
  createClient({
    url,
    application: 'millrace',
    request_timeout: 300_000,
    // Balancers close what is silent.
    clickhouse_settings: { send_progress_in_http_headers: 1, http_headers_progress_interval_ms: '10000' },
    // What fails is told by whoever asked.
    log: { level: ClickHouseLogLevel.OFF },
  });

/**
 * @param reader connections to PostgreSQL that cannot write
 * @throws ConfigError when ClickHouse is asked for and nobody has said where it is
 */
export function openEventStore(
  config: EventStoreConfig,
  { reader, maxMs }: { reader: Pick<Reader, 'read'>; maxMs: number },
): OpenEventStore {
  if (config.eventStore === 'postgres') {
    return { events: createEventStore(postgresEngine(reader)), clickhouse: null, maxMs, stop: async () => {} };
  }
  const url = secretOf(config, 'clickhouseUrl')?.();
  if (url === undefined) throw new ConfigError(['CLICKHOUSE_URL is required with EVENT_STORE=clickhouse']);
  const longestMs = Math.min(maxMs, longestOnClickHouseMs);
  const client = connectClickHouse(url);
  return {
    events: createEventStore(clickhouseEngine(client)),
    clickhouse: client,
    maxMs: longestMs,
    stop: () => client.close(),
  };
}
