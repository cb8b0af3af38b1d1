export { reportCertificates } from './certificate-metrics.ts';
export { ConfigError, integerSetting, readConfig } from './config.ts';
export { environment } from './environment.ts';
export { environmentName } from './environment-name.ts';
export { firstExpiry } from './first-expiry.ts';
export { type FollowedTls, followTls } from './followed-tls.ts';
export { createHealth, type Health, type HealthCheck } from './health.ts';
export { startHealthServer } from './health-server.ts';
export { type Lifecycle, runService, type Stoppable } from './lifecycle.ts';
export { createLogger, type Logger } from './logger.ts';
export {
  createMetrics,
  type MetricName,
  type Metrics,
  type MetricsPart,
  type Observer,
  observerOf,
  sumMetrics,
  type Tally,
  tallies,
} from './metrics.ts';
export { metricsConfigFields, moveMetrics } from './metrics-server.ts';
export { readPem } from './read-pem.ts';
export { createSecretBox, type SealedSecret, type SecretBox, SecretBoxError, secretsKeyFields } from './secret-box.ts';
export { readForEachConnection, secretOf, secretSetting } from './secret-setting.ts';
