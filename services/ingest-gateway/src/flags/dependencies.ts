import { flagPayloadEncryptionContext, isSealedPayload } from '@millrace/contracts';
import type { ProjectChanges, Sql } from '@millrace/db/sql';
import {
  AppError,
  createSecretBox,
  createSecretReader,
  type Metrics,
  type SecretBox,
  SecretBoxError,
  type Stoppable,
} from '@millrace/runtime';
import type { KeyValueStore } from '@millrace/runtime/cache';
import type { Tracing } from '@millrace/runtime/tracing';
import type { ProjectKeys } from '../access/project-keys.ts';
import { type StoreTimeLimits, storeTimeLimits } from '../access/store-limits.ts';
import type { ByteBudget } from '../body/byte-budget.ts';
import type { Uploads } from '../body/uploads.ts';
import {
  createEarlyAccessFeatures,
  createEnvironmentSettings,
  type EarlyAccessFeatures,
  type EnvironmentSettings,
} from '../config/settings.ts';
import type { CaptureLimits, GatewayConfig } from '../config.ts';
import { createFlagData, createFlagDatabase, type FlagData } from '../flag-data.ts';
import { createSharedCounters } from '../limits/shared-counters.ts';
import type { RefusalLine } from '../response/refusal-log.ts';
import { type AnonymousIdCache, createAnonymousIdCache } from './anonymous-ids.ts';
import { type BearerRights, createBearerRights } from './definition-rights.ts';
import { createExpensiveRequests, type ExpensiveRequestConfig, type ExpensiveRequests } from './expensive-requests.ts';
import { createFlagLimits, type FlagLimitConfig, type FlagLimits } from './limits.ts';
import { createFlagMetrics, type FlagMetrics } from './metrics.ts';

/** Services for flag requests and the browser config. */
export interface FlagServices extends Stoppable {
  data: FlagData;
  settings: EnvironmentSettings;
  features: EarlyAccessFeatures;
  flagLimits: FlagLimits;
  expensiveRequests: ExpensiveRequests;
  idsBeforeLogin: AnonymousIdCache;
  metrics: FlagMetrics;
  rights: BearerRights;
  openPayload: DecryptPayload;
}

interface FlagServicesOptions {
  /** Uses a separate pool, so that many flag requests do not affect events. */
  sql: Sql;
  definitionSql: Sql;
  cache: KeyValueStore;
  changes: Pick<ProjectChanges, 'subscribe' | 'isSubscribed'>;
  config: FlagLimitConfig &
    ExpensiveRequestConfig &
    Pick<
      GatewayConfig,
      'flagDatabaseConnections' | 'flagDefinitionsMemoryMb' | 'limitFlushMs' | 'secretsKey' | 'secretsKeyFile'
    >;
  metrics: Metrics;
  timeLimits?: StoreTimeLimits;
  now?: () => number;
}

const mebibyte = 1024 * 1024;

export function createFlagServices(options: FlagServicesOptions): FlagServices {
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
    expensiveRequests: createExpensiveRequests(config, { metrics, timeLimits, now }),
    idsBeforeLogin: createAnonymousIdCache(cache),
    metrics: createFlagMetrics(metrics),
    rights: createBearerRights(database.requests, changes, timeLimits),
    openPayload: createPayloadOpener(createSecretBox(createSecretReader(config, 'secretsKey'))),
    stop: counters.stop,
  };
}

export interface FlagDependencies {
  projectKeys: ProjectKeys;
  data: FlagData;
  settings: EnvironmentSettings;
  flagLimits: FlagLimits;
  expensiveRequests: ExpensiveRequests;
  idsBeforeLogin: AnonymousIdCache;
  budget: ByteBudget;
  uploads: Uploads;
  limits: CaptureLimits;
  metrics: FlagMetrics;
  tracing: Tracing | null;
  logRefusal(line: RefusalLine): void;
  isStopping(): boolean;
}

/** Decrypts a payload if it is encrypted. @throws AppError `unavailable` if this service does not have the key */
export type DecryptPayload = (stored: string, environmentId: number) => string;

function createPayloadOpener(box: SecretBox): DecryptPayload {
  return (stored, environmentId) => {
    if (!isSealedPayload(stored)) return stored;
    try {
      return String(box.open({ sealed: stored }, flagPayloadEncryptionContext(environmentId)).payload);
    } catch (cause) {
      if (!(cause instanceof SecretBoxError)) throw cause;
      throw new AppError(
        'unavailable',
        'This payload is encrypted with a key that this service does not have. Add the key to SECRETS_KEY.',
        {
          cause,
        },
      );
    }
  };
}
