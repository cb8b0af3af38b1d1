/** What is asked about a service from outside: does it live, is it ready, what are its metrics, and on which port. */

import { createServer } from 'node:http';
import { Type } from 'typebox';
import type { Lifecycle, Stoppable } from './lifecycle.ts';
import { type ListenOptions, listen } from './listen.ts';
import type { Logger } from './logger.ts';
import type { Metrics } from './metrics.ts';

/** What `/_liveness` and `/_readiness` answer. A check returns null when well, else one sentence for the operator. */
export type HealthCheck = () => string | null;

export interface Health {
  /** Registers a check that readiness depends on. */
  require(name: string, check: HealthCheck): void;
  /** Registers a check whose failure means the process should be restarted. */
  requireAlive(name: string, check: HealthCheck): void;
  /** From now on `/metrics` is not among the operational paths: it is answered elsewhere. */
  moveMetrics(): void;
  /** The figures, wherever they are asked for. */
  metrics(): Promise<HealthAnswer>;
  /** Begins to answer 503 on readiness; called first when stopping. */
  setStopping(): void;
  /** What is wrong at the moment, one sentence by the name of its check. */
  failing(what: 'readiness' | 'liveness'): Record<string, string>;
  /** Answers one of the three operational paths, or null when the path is another one. */
  answer(path: string): Promise<HealthAnswer | null>;
}

export interface HealthAnswer {
  status: number;
  contentType: string;
  body: string;
}

/** @param readMetrics the text of `/metrics`, when it is not that of this process alone. */
export function createHealth(metrics: Metrics, readMetrics = () => metrics.registry.metrics()): Health {
  const readiness = new Map<string, HealthCheck>();
  const liveness = new Map<string, HealthCheck>();
  let isStopping = false;
  let areMetricsElsewhere = false;

  function failing(what: 'readiness' | 'liveness'): Record<string, string> {
    return Object.fromEntries(
      [...(what === 'readiness' ? readiness : liveness)].flatMap(([name, check]) => {
        const problem = run(check);
        return problem === null ? [] : [[name, problem]];
      }),
    );
  }

  function report(what: 'readiness' | 'liveness') {
    const problems = failing(what);
    const isUnready = isStopping && what === 'readiness';
    const status = isUnready ? 'stopping' : Object.keys(problems).length > 0 ? 'failing' : 'ok';
    return {
      status: status === 'ok' ? 200 : what === 'readiness' ? 503 : 500,
      contentType: 'application/json',
      body: JSON.stringify({ status, failing: problems }),
    };
  }

  const readAll = async (): Promise<HealthAnswer> => ({
    status: 200,
    contentType: metrics.registry.contentType,
    body: await readMetrics(),
  });

  return {
    failing,
    metrics: readAll,
    moveMetrics: () => {
      areMetricsElsewhere = true;
    },
    require: (name, check) => void readiness.set(name, check),
    requireAlive: (name, check) => void liveness.set(name, check),
    setStopping: () => {
      isStopping = true;
    },
    async answer(path) {
      switch (path) {
        case '/_liveness':
          return report('liveness');
        case '/_readiness':
          return report('readiness');
        case '/metrics':
          return areMetricsElsewhere ? null : readAll();
        default:
          return null;
      }
    },
  };
}

/** A check that throws has failed. */
function run(check: HealthCheck): string | null {
  try {
    return check();
  } catch (error) {
    return `the health check failed: ${error instanceof Error ? error.message : String(error)}`;
  }
}

/** A small server for services that have no other HTTP port. Answers only the operational paths. */
export async function startHealthServer(
  health: Pick<Health, 'answer'>,
  options: ListenOptions,
): Promise<Stoppable & { port: number }> {
  const server = createServer((request, response) => {
    const path = (request.url ?? '/').split('?', 1)[0] ?? '/';
    health.answer(path).then(
      (answer) => {
        response.writeHead(answer?.status ?? 404, { 'content-type': answer?.contentType ?? 'text/plain' });
        response.end(answer?.body ?? '');
      },
      () => response.writeHead(500).end(),
    );
  });
  return {
    port: await listen(server, options),
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

/** Where a service's figures are read, when not on its own port. Spread into its config schema. */
export const metricsConfigFields = {
  metricsPort: Type.Optional(
    Type.Integer({
      minimum: 0,
      maximum: 65_535,
      description: 'separate TCP port for /metrics. The main port then does not serve /metrics. 0 picks a free port',
    }),
  ),
  metricsHost: Type.String({ default: '0.0.0.0', description: 'address to listen on for METRICS_PORT' }),
} as const;

/** Moves `/metrics` to a port of its own, when one is asked for: what is public then tells nothing of its operation. */
export async function moveMetrics(
  { metricsPort: port, metricsHost: host }: { readonly metricsPort?: number; readonly metricsHost: string },
  { lifecycle, health, logger }: { lifecycle: Lifecycle; health: Health; logger: Logger },
): Promise<void> {
  if (port === undefined) return;
  const only = { answer: async (path: string) => (path === '/metrics' ? health.metrics() : null) };
  const server = lifecycle.own(
    'metrics server',
    await startHealthServer(only, { port, host, setting: 'METRICS_PORT' }),
  );
  health.moveMetrics();
  logger.info('serving metrics on a separate port', { port: server.port });
}
