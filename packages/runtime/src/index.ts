export { AppError, type AppErrorOptions, type ErrorKind, isAppError } from './app-error.ts';
export { createDeferred, limitConcurrency, sleep, withDeadline } from './async.ts';
export { exportCertificateExpiry, readEarliestExpiry } from './certificate-metrics.ts';
export { ConfigError, integerSetting, logLevelConfigFields, readConfig } from './config.ts';
export { readEnvironment, toEnvironmentVariable } from './environment.ts';
export {
  createHealth,
  type Health,
  type HealthCheck,
  metricsConfigFields,
  serveMetricsSeparately,
  startHealthServer,
} from './health.ts';
export { type Lifecycle, runProcess, type Stoppable } from './lifecycle.ts';
export { type ListenOptions, listen } from './listen.ts';
export { createLogger, type Logger } from './logger.ts';
export {
  createMetrics,
  createObserver,
  joinMetrics,
  type MetricName,
  type Metrics,
  type Observer,
} from './metrics.ts';
export { hasLink, isPlainName, quoteMessage, toPlainName } from './plain-names.ts';
export { createReloadingTls, type ReloadingTls } from './reloading-tls.ts';
export {
  createSecretBox,
  type SealedSecret,
  type SecretBox,
  SecretBoxError,
  secretsKeyConfigFields,
} from './secret-box.ts';
export { createSecretReader, readTimePerConnection, secretSetting } from './secret-setting.ts';
export {
  runService,
  type Service,
  type ServiceConfig,
  type ServiceHost,
  type StartedService,
  startComponents,
} from './service.ts';
export { readPemFile } from './setting-files.ts';
