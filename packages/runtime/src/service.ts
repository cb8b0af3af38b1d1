/** The interface of a service, and a function that runs a single service as a process. */

import { exportCertificateExpiry } from './certificate-metrics.ts';
import { readEnvironment } from './environment.ts';
import { createHealth, type Health, serveMetricsSeparately, startHealthServer } from './health.ts';
import { createLifecycle, type Lifecycle, runProcess, type Stoppable } from './lifecycle.ts';
import { createLogger, type Logger } from './logger.ts';
import { createMetrics, type Metrics } from './metrics.ts';

/** What a process provides to each of its services. Only the process handles signals, V8 flags and its own exit. */
export interface ServiceHost {
  logger: Logger;
  metrics: Metrics;
  /** Health checks, which are served by the process or by the service on its own port. */
  health: Health;
  /** Reports a fatal error. The whole process then stops and exits with code 1. */
  fail(error: Error): void;
}

export interface StartedService extends Stoppable {
  /**
   * Resolves when the service is ready, with details for the log. Rejects if the service cannot start. The service can
   * be stopped before it is ready.
   */
  started: Promise<ServiceFacts>;
}

interface ServiceFacts {
  port?: number;
  [fact: string]: unknown;
}

export interface ServiceConfig {
  readonly logLevel: string;
  readonly healthPort?: number;
  readonly healthHost?: string;
  readonly metricsPort?: number;
  readonly metricsHost: string;
}

export interface Service<Config extends ServiceConfig> {
  name: string;
  readConfig(env: Record<string, string | undefined>): Config;
  stopWithinMs(config: Config): number;
  isTraced?(config: Config): boolean;
  start(config: Config, host: ServiceHost): StartedService;
}

/**
 * Starts a service's components in the background.
 * @param begin a function that starts the components in order. They are stopped in reverse order, even if `begin`
 * fails.
 */
export function startComponents(
  logger: Logger,
  begin: (lifecycle: Lifecycle) => Promise<ServiceFacts>,
): StartedService {
  const lifecycle = createLifecycle(logger);
  return { started: begin(lifecycle), stop: () => lifecycle.stop() };
}

/**
 * Runs a single service in this process. A small server for health checks and `/metrics` is started if `healthPort` is
 * set.
 */
export async function runService<Config extends ServiceConfig>(service: Service<Config>): Promise<void> {
  const { name } = service;
  const config = service.readConfig(readEnvironment());
  const logger = createLogger(name, config.logLevel);
  await runProcess(logger, service.stopWithinMs(config), async (lifecycle, fail) => {
    const metrics = createMetrics({ hasExemplars: service.isTraced?.(config) === true });
    const health = createHealth(metrics);
    exportCertificateExpiry(config, metrics);
    await serveMetricsSeparately(config, { lifecycle, health, logger });
    let isStarted = false;
    health.addReadinessCheck('start', () => (isStarted ? null : 'The service is still starting.'));
    const healthServer = await serveHealth(config, { lifecycle, health });
    const running = lifecycle.own(name, service.start(config, { logger, metrics, health, fail }));
    const { port = healthServer?.port, ...facts } = await running.started;
    isStarted = true;
    logger.info('listening', { port, ...facts });
    process.send?.({ type: 'listening', port });
  });
}

async function serveHealth(
  { healthPort: port, healthHost: host = '0.0.0.0' }: ServiceConfig,
  { lifecycle, health }: { lifecycle: Lifecycle; health: Health },
): Promise<{ port: number } | undefined> {
  if (port === undefined) return undefined;
  return lifecycle.own('health server', await startHealthServer(health, { port, host, setting: 'HEALTH_PORT' }));
}
