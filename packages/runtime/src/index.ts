export { AppError, type AppErrorOptions, type ErrorKind, isAppError } from './app-error.ts';
export { createDeferred, limitConcurrency, sleep, withDeadline } from './async.ts';
export { firstExpiry, reportCertificates } from './certificate-metrics.ts';
export { ConfigError, integerSetting, logLevelFields, readConfig } from './config.ts';
export { environment, environmentName } from './environment.ts';
export { type FollowedTls, followTls } from './followed-tls.ts';
export {
  createHealth,
  type Health,
  type HealthCheck,
  metricsConfigFields,
  moveMetrics,
  startHealthServer,
} from './health.ts';
export { type Lifecycle, runProcess, type Stoppable } from './lifecycle.ts';
export { type ListenOptions, listen } from './listen.ts';
export { createLogger, type Logger } from './logger.ts';
export {
  createMetrics,
  joinMetrics,
  type MetricName,
  type Metrics,
  type Observer,
  observerOf,
} from './metrics.ts';
export { hasLink, isPlainName, quoteMessage, toPlainName } from './plain-names.ts';
export { createSecretBox, type SealedSecret, type SecretBox, SecretBoxError, secretsKeyFields } from './secret-box.ts';
export { readForEachConnection, secretOf, secretSetting } from './secret-setting.ts';
export {
  runService,
  type Service,
  type ServiceConfig,
  type ServiceHost,
  type StartedService,
  startParts,
} from './service.ts';
export { readPem } from './setting-files.ts';
