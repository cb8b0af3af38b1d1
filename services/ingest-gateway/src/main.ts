import cluster from 'node:cluster';
import { setFlagsFromString } from 'node:v8';
import { createLogger, environment, runProcess, runService } from '@millrace/runtime';
import { createSharedMetrics, startProcesses } from './processes.ts';
import { ingestGateway } from './start.ts';

// Little of the heap is in use. By default it grows to four times that before it is cleaned, as if the machine were
// ours alone. At 150 batches take a tenth less time than at 120, within 200 MB (`npm run bench -- gateway`).
setFlagsFromString('--heap-growing-percent=150');

const config = ingestGateway.readConfig(environment());

/** The process that only starts the others waits a little longer than they do. */
const longerThanOthersMs = 2000;

if (config.gatewayProcesses > 1 && cluster.isPrimary) {
  const logger = createLogger(ingestGateway.name, config.logLevel);
  await runProcess(logger, config.drainTimeoutMs + longerThanOthersMs, async (lifecycle) => {
    const processes = lifecycle.own('processes', startProcesses(config.gatewayProcesses, logger));
    const port = await processes.listening;
    logger.info('all processes are listening', { port, processes: config.gatewayProcesses });
    process.send?.({ type: 'listening', port });
  });
} else {
  await runService(
    ingestGateway,
    config,
    cluster.isWorker ? (metrics) => createSharedMetrics(metrics, process) : undefined,
  );
}
