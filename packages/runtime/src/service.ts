/** What a service is to the process it runs in, and the process that runs one alone. */

import { reportCertificates } from './certificate-metrics.ts';
import { environment } from './environment.ts';
import { createHealth, type Health, moveMetrics, startHealthServer } from './health.ts';
import { createLifecycle, type Lifecycle, runProcess, type Stoppable } from './lifecycle.ts';
import { createLogger, type Logger } from './logger.ts';
import { createMetrics, type Metrics } from './metrics.ts';

/** What a process gives to each service in it. Signals, V8's flags and the end of the process are the process's own. */
export interface ServiceHost {
  logger: Logger;
  metrics: Metrics;
  /** Where it says how it is. The process answers for it, or it answers on a port of its own. */
  health: Health;
  /** It cannot go on: the whole process stops, and ends with code 1. */
  fail(error: Error): void;
}

export interface StartedService extends Stoppable {
  /** Resolves when it works, with what the log shall say of it; rejects when it cannot. It may be stopped before. */
  started: Promise<ServiceFacts>;
}

interface ServiceFacts {
  /** Where it answers, if it has a port of its own. */
  port?: number;
  [fact: string]: unknown;
}

/** The settings that every service has. */
export interface ServiceConfig {
  readonly logLevel: string;
  readonly healthPort?: number;
  readonly healthHost?: string;
  readonly metricsPort?: number;
  readonly metricsHost: string;
}

export interface Service<Config extends ServiceConfig> {
  name: string;
  /** @throws ConfigError */
  readConfig(env: Record<string, string | undefined>): Config;
  /** How long stopping may take. */
  stopWithinMs(config: Config): number;
  /** Whether its histograms keep traces beside their figures. */
  isTraced?(config: Config): boolean;
  start(config: Config, host: ServiceHost): StartedService;
}

/** @param begin starts the parts of a service in order; they are stopped in reverse, also when it has not come to its end. */
export function startParts(logger: Logger, begin: (lifecycle: Lifecycle) => Promise<ServiceFacts>): StartedService {
  const lifecycle = createLifecycle(logger);
  return { started: begin(lifecycle), stop: () => lifecycle.stop() };
}

/**
 * Runs one service as this process. With a setting `healthPort` the process has a small server that answers for it.
 * @param readMetrics the text of `/metrics`, when it is not that of this process alone.
 */
export async function runService<Config extends ServiceConfig>(
  service: Service<Config>,
  config: Config = service.readConfig(environment()),
  readMetrics?: (metrics: Metrics) => () => Promise<string>,
): Promise<void> {
  const { name } = service;
  const logger = createLogger(name, config.logLevel);
  await runProcess(logger, service.stopWithinMs(config), async (lifecycle, fail) => {
    // Figures that are added up have no place for exemplars.
    const metrics = createMetrics({ hasExemplars: service.isTraced?.(config) === true && readMetrics === undefined });
    const health = createHealth(metrics, readMetrics?.(metrics));
    reportCertificates(config, metrics);
    await moveMetrics(config, { lifecycle, health, logger });
    let isStarted = false;
    health.require('start', () => (isStarted ? null : 'The service is still starting.'));
    const healthServer = await answerHealth(config, { lifecycle, health });
    const running = lifecycle.own(name, service.start(config, { logger, metrics, health, fail }));
    const { port = healthServer?.port, ...facts } = await running.started;
    isStarted = true;
    logger.info('listening', { port, ...facts });
    process.send?.({ type: 'listening', port });
  });
}

/** A service without a port of its own is asked on that of the process. */
async function answerHealth(
  { healthPort: port, healthHost: host = '0.0.0.0' }: ServiceConfig,
  { lifecycle, health }: { lifecycle: Lifecycle; health: Health },
): Promise<{ port: number } | undefined> {
  if (port === undefined) return undefined;
  return lifecycle.own('health server', await startHealthServer(health, { port, host, setting: 'HEALTH_PORT' }));
}
