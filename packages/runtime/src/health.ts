/** Liveness, readiness and metrics of a service, and a server for them. */

import { createServer } from 'node:http';
import { Type } from 'typebox';
import type { Lifecycle, Stoppable } from './lifecycle.ts';
import { type ListenOptions, listen } from './listen.ts';
import type { Logger } from './logger.ts';
import type { Metrics } from './metrics.ts';

/** A check for `/_liveness` or `/_readiness`. Returns null if it passes, or one sentence for the operator. */
export type HealthCheck = () => string | null;

export interface Health {
  addReadinessCheck(name: string, check: HealthCheck): void;
  /** If a liveness check fails, the process should be restarted. */
  addLivenessCheck(name: string, check: HealthCheck): void;
  /** Stops `respond` from serving `/metrics`. Call this if another port serves it. */
  stopServingMetrics(): void;
  metrics(): Promise<HealthResponse>;
  /** Makes `/_readiness` return 503. This is the first step of a shutdown. */
  setStopping(): void;
  /** Returns the sentence of each failed check, keyed by the check's name. */
  findProblems(what: 'readiness' | 'liveness'): Record<string, string>;
  /** Responds to `/_liveness`, `/_readiness` and `/metrics`. Returns null for all other paths. */
  respond(path: string): Promise<HealthResponse | null>;
}

export interface HealthResponse {
  status: number;
  contentType: string;
  body: string;
}

/**
 * Creates the health checks of a process.
 * @param readMetrics a function that returns the body of `/metrics`. Defaults to the metrics of this process.
 */
export function createHealth(metrics: Metrics, readMetrics = () => metrics.registry.metrics()): Health {
  const readiness = new Map<string, HealthCheck>();
  const liveness = new Map<string, HealthCheck>();
  let isStopping = false;
  let areMetricsElsewhere = false;

  function findProblems(what: 'readiness' | 'liveness'): Record<string, string> {
    return Object.fromEntries(
      [...(what === 'readiness' ? readiness : liveness)].flatMap(([name, check]) => {
        const problem = run(check);
        return problem === null ? [] : [[name, problem]];
      }),
    );
  }

  function report(what: 'readiness' | 'liveness') {
    const problems = findProblems(what);
    const isUnready = isStopping && what === 'readiness';
    const status = isUnready ? 'stopping' : Object.keys(problems).length > 0 ? 'failing' : 'ok';
    return {
      status: status === 'ok' ? 200 : what === 'readiness' ? 503 : 500,
      contentType: 'application/json',
      body: JSON.stringify({ status, failing: problems }),
    };
  }

  const readAll = async (): Promise<HealthResponse> => ({
    status: 200,
    contentType: metrics.registry.contentType,
    body: await readMetrics(),
  });

  return {
    findProblems,
    metrics: readAll,
    stopServingMetrics: () => {
      areMetricsElsewhere = true;
    },
    addReadinessCheck: (name, check) => void readiness.set(name, check),
    addLivenessCheck: (name, check) => void liveness.set(name, check),
    setStopping: () => {
      isStopping = true;
    },
    async respond(path) {
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

function run(check: HealthCheck): string | null {
  try {
    return check();
  } catch (error) {
    return `the health check failed: ${error instanceof Error ? error.message : String(error)}`;
  }
}

/** Starts a server that serves only the operational paths, for services without another HTTP port. */
export async function startHealthServer(
  health: Pick<Health, 'respond'>,
  options: ListenOptions,
): Promise<Stoppable & { port: number }> {
  const server = createServer((request, response) => {
    const path = (request.url ?? '/').split('?', 1)[0] ?? '/';
    health.respond(path).then(
      (content) => {
        response.writeHead(content?.status ?? 404, { 'content-type': content?.contentType ?? 'text/plain' });
        response.end(content?.body ?? '');
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

/**
 * Serves `/metrics` on the separate port, if one is configured, so that a public port does not expose operational data.
 */
export async function serveMetricsSeparately(
  { metricsPort: port, metricsHost: host }: { readonly metricsPort?: number; readonly metricsHost: string },
  { lifecycle, health, logger }: { lifecycle: Lifecycle; health: Health; logger: Logger },
): Promise<void> {
  if (port === undefined) return;
  const only = { respond: async (path: string) => (path === '/metrics' ? health.metrics() : null) };
  const server = lifecycle.own(
    'metrics server',
    await startHealthServer(only, { port, host, setting: 'METRICS_PORT' }),
  );
  health.stopServingMetrics();
  logger.info('serving metrics on a separate port', { port: server.port });
}
