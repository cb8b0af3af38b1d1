import type { KeyValue } from '@millrace/cache';
import type { ProjectChanges, Sql } from '@millrace/db/sql';
import { createSecretBox, type Metrics, type Stoppable, secretOf } from '@millrace/runtime';
import { type StoreTimeLimits, storeTimeLimits } from './access/store-time-limits.ts';
import type { GatewayConfig } from './config.ts';
import { createEarlyAccessFeatures, type EarlyAccessFeatures } from './config-and-flags/early-access-features.ts';
import { createEnvironmentSettings, type EnvironmentSettings } from './config-and-flags/environment-settings.ts';
import { createFlagData, type FlagData } from './flag-data/flag-data.ts';
import { createFlagDatabase } from './flag-data/flag-database.ts';
import { createFlagLimits, type FlagLimitConfig, type FlagLimits } from './flag-data/flag-limits.ts';
import { createFlagMetrics, type FlagMetrics } from './flag-data/flag-metrics.ts';
import { type BearerRights, createBearerRights } from './flag-definitions/bearer-rights.ts';
import { createPayloadOpener, type PayloadOpener } from './flag-definitions/payload-opener.ts';
import { createSharedCounters } from './limits/shared-counters.ts';

/** What flags and the config of browsers are served with. */
export interface FlagParts extends Stoppable {
  data: FlagData;
  settings: EnvironmentSettings;
  features: EarlyAccessFeatures;
  flagLimits: FlagLimits;
  metrics: FlagMetrics;
  rights: BearerRights;
  openPayload: PayloadOpener;
}

export interface FlagPartsOptions {
  /** A pool of its own, so that a flood of questions takes nothing from events. */
  sql: Sql;
  /** For definitions, beside: see `createFlagDatabase`. */
  definitionSql: Sql;
  cache: KeyValue;
  changes: Pick<ProjectChanges, 'subscribe' | 'isSubscribed'>;
  config: FlagLimitConfig &
    Pick<
      GatewayConfig,
      'flagDatabaseConnections' | 'flagDefinitionsMemoryMb' | 'limitFlushMs' | 'secretsKey' | 'secretsKeyFile'
    >;
  metrics: Metrics;
  timeLimits?: StoreTimeLimits;
  now?: () => number;
}

const mebibyte = 1024 * 1024;

export function createFlagParts(options: FlagPartsOptions): FlagParts {
  const { sql, definitionSql, cache, changes, config, metrics } = options;
  const { timeLimits = storeTimeLimits, now = Date.now } = options;
  const pools = { requests: sql, definitions: definitionSql };
  const database = createFlagDatabase(pools, config.flagDatabaseConnections, { timeLimits });
  const counters = createSharedCounters({
    store: cache,
    now,
    flushAfterMs: config.limitFlushMs,
    onFlush: () => {},
  });
  const memoryBytes = config.flagDefinitionsMemoryMb * mebibyte;
  return {
    data: createFlagData({ database, changes, memoryBytes, metrics }),
    settings: createEnvironmentSettings(database.requests, changes, timeLimits),
    features: createEarlyAccessFeatures(database.requests, changes, timeLimits),
    flagLimits: createFlagLimits(config, { counters, now }),
    metrics: createFlagMetrics(metrics),
    rights: createBearerRights(database.requests, changes, timeLimits),
    openPayload: createPayloadOpener(createSecretBox(secretOf(config, 'secretsKey'))),
    stop: counters.stop,
  };
}
