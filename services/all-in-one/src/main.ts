/** Runs all services in one process, for `npm start` and small installations. Exits if one service fails. */

import { setFlagsFromString } from 'node:v8';
import { deliveryWorker } from '@millrace/delivery-worker/start';
import { eventConsumer } from '@millrace/event-consumer/start';
import { ingestGateway } from '@millrace/ingest-gateway/start';
import { managementApi } from '@millrace/management-api/start';
import {
  createHealth,
  createLogger,
  createMetrics,
  exportCertificateExpiry,
  joinMetrics,
  readEnvironment,
  runProcess,
  type Service,
  type ServiceConfig,
  type StartedService,
  type Stoppable,
  serveMetricsSeparately,
  startHealthServer,
} from '@millrace/runtime';
import { isTracingEnabled } from '@millrace/runtime/tracing';
import { readAllConfig } from './read-config.ts';

// All services share one heap, and most of it is unused. By default, the heap grows to four times its used size before
// garbage collection, which takes memory from other processes (docs/decisions/032-one-process.md).
setFlagsFromString('--heap-growing-percent=100');

const configs = readAllConfig(readEnvironment());
const { own } = configs;
const logger = createLogger('all-in-one', own.logLevel);
// Services that serve requests stop first, and background services afterwards, so the two durations are added.
const stopWithinMs =
  Math.max(ingestGateway.stopWithinMs(configs.gateway), managementApi.stopWithinMs(configs.api)) +
  Math.max(eventConsumer.stopWithinMs(configs.consumer), deliveryWorker.stopWithinMs(configs.worker));

await runProcess(logger, stopWithinMs, async (lifecycle, fail) => {
  const services = createServices(fail);
  const { health } = services;
  await serveMetricsSeparately(own, { lifecycle, health, logger });
  const { healthPort: port, healthHost: host } = own;
  const server = lifecycle.own(
    'health server',
    await startHealthServer(health, { port, host, setting: 'HEALTH_PORT' }),
  );
  const consumer = services.start(eventConsumer, configs.consumer);
  const worker = services.start(deliveryWorker, configs.worker);
  lifecycle.own('consumer and worker', stopTogether([consumer, worker]));
  const api = services.start(managementApi, configs.api);
  const gateway = services.start(ingestGateway, configs.gateway);
  lifecycle.own('gateway and API', stopTogether([gateway, api]));
  lifecycle.own('readiness', { stop: async () => health.setStopping() });
  const [{ port: ingestPort }, { port: apiPort }] = await Promise.all([
    ...([gateway.started, api.started] as const),
    consumer.started,
    worker.started,
  ]);
  services.setStarted();
  logger.info('listening', { port: server.port, ingestPort, apiPort });
  process.send?.({ type: 'listening', port: server.port, ingestPort, apiPort });
});

/** Creates each service's logger, metrics and health checks, and combines them for the process. */
function createServices(fail: (error: Error) => void) {
  // Exemplars require the OpenMetrics format, and all metrics in a response must have the same format. If one service
  // needs exemplars, all services therefore use OpenMetrics.
  const hasExemplars = isTracingEnabled(configs.gateway) || isTracingEnabled(configs.consumer);
  const processMetrics = createMetrics({ hasExemplars });
  exportCertificateExpiry(
    { ...configs.worker, ...configs.api, ...configs.consumer, ...configs.gateway },
    processMetrics,
  );
  const metrics = [processMetrics];
  const readMetrics = () => joinMetrics(metrics);
  const health = createHealth(processMetrics, readMetrics);
  let isStarted = false;
  health.addReadinessCheck('start', () => (isStarted ? null : 'The services are still starting.'));
  return {
    health,
    setStarted: () => {
      isStarted = true;
    },
    start<Config extends ServiceConfig>({ name, start }: Service<Config>, config: Config): StartedService {
      const ofService = createMetrics({ withProcessMetrics: false, hasExemplars, service: name });
      metrics.push(ofService);
      const healthOfService = createHealth(ofService, readMetrics);
      if (own.metricsPort !== undefined) healthOfService.stopServingMetrics();
      health.addReadinessCheck(name, () => problemOf(healthOfService.findProblems('readiness')));
      health.addLivenessCheck(name, () => problemOf(healthOfService.findProblems('liveness')));
      const failed = (cause: Error) => new Error(`${name}: ${cause.message}`, { cause });
      const { started, stop } = start(config, {
        logger: createLogger(name, config.logLevel),
        metrics: ofService,
        health: healthOfService,
        fail: (cause) => fail(failed(cause)),
      });
      return { stop, started: started.catch((cause: Error) => Promise.reject(failed(cause))) };
    },
  };
}

function stopTogether(services: readonly StartedService[]): Stoppable {
  return {
    async stop() {
      await Promise.all(services.map((service) => service.stop()));
    },
  };
}

/** Returns one sentence for each failing check, or null if no check fails. */
function problemOf(failing: Record<string, string>): string | null {
  const problems = Object.entries(failing).map(([check, problem]) => `${check}: ${problem}`);
  return problems.length === 0 ? null : problems.join(' ');
}
