import { Type } from 'typebox';
import type { Health } from './health.ts';
import { startHealthServer } from './health-server.ts';
import type { Lifecycle } from './lifecycle.ts';
import type { Logger } from './logger.ts';

/** Where a service's figures are read, when not on its own port. Spread into its config schema. */
export const metricsConfigFields = {
  metricsPort: Type.Optional(
    Type.Integer({
      minimum: 0,
      maximum: 65_535,
      description: 'a TCP port for /metrics alone, which the other port has no more then; 0 takes a free one',
    }),
  ),
  metricsHost: Type.String({ default: '0.0.0.0', description: 'the address to listen on with METRICS_PORT' }),
} as const;

/** Moves `/metrics` to a port of its own, when one is asked for: what is public then tells nothing of its operation. */
export async function moveMetrics(
  { metricsPort: port, metricsHost: host }: { readonly metricsPort?: number; readonly metricsHost: string },
  { lifecycle, health, logger }: { lifecycle: Lifecycle; health: Health; logger: Logger },
): Promise<void> {
  if (port === undefined) return;
  const only = { answer: async (path: string) => (path === '/metrics' ? health.metrics() : null) };
  const server = lifecycle.own('metrics server', await startHealthServer(only, { port, host }));
  health.moveMetrics();
  logger.info('metrics on a port of their own', { port: server.port });
}
