import cluster, { type Worker } from 'node:cluster';
import type { Logger, Stoppable } from '@millrace/runtime';
import { createMetricsGatherer } from './gather-metrics.ts';
import type { FromGateway } from './process-messages.ts';

export interface GatewayProcesses extends Stoppable {
  /** The port, once all of them listen on it; rejects when one ends before. */
  listening: Promise<number>;
}

/** A process that ended so soon after its start is not started again at once: what ended it may still be there. */
const soonMs = 5000;
const restMs = 1000;

/**
 * Starts this program `count` times, all on one port. A process that ends is replaced. Stopping lets all of them finish
 * their requests.
 *
 * Each process accepts connections from the port itself. Node could distribute them more evenly, but then connections
 * on their way to a process that stops would be lost.
 */
export function startProcesses(count: number, logger: Logger): GatewayProcesses {
  const gateways = new Set<Worker>();
  const metrics = createMetricsGatherer(gateways);
  let isStopping = false;
  let listeningYet = 0;
  let settle: { resolve(port: number): void; reject(error: Error): void };
  const listening = new Promise<number>((resolve, reject) => {
    settle = { resolve, reject };
  });

  function start(): void {
    if (isStopping) return;
    const gateway = cluster.fork();
    const startedAt = performance.now();
    gateways.add(gateway);
    gateway.on('message', (message: FromGateway) => {
      if (message.type === 'listening') {
        listeningYet += 1;
        if (listeningYet === count) settle.resolve(message.port);
      }
      metrics.onMessage(gateway, message);
    });
    gateway.on('exit', (code, signal) => {
      gateways.delete(gateway);
      if (isStopping) return;
      if (listeningYet < count) {
        settle.reject(new Error(`A process of the gateway ended at its start (${signal ?? code}).`));
        return;
      }
      logger.error('a process of the gateway ended and is replaced', { code, signal });
      setTimeout(start, performance.now() - startedAt < soonMs ? restMs : 0);
    });
  }

  cluster.schedulingPolicy = cluster.SCHED_NONE;
  for (let number = 0; number < count; number++) start();
  return {
    listening,
    async stop() {
      isStopping = true;
      const ended = [...gateways].map((gateway) => new Promise((resolve) => gateway.once('exit', resolve)));
      for (const gateway of gateways) gateway.process.kill('SIGTERM');
      await Promise.all(ended);
    },
  };
}
