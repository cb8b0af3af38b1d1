import type { ServiceName } from '../build/programs.ts';
import { SetupProblem } from '../command.ts';

/** Which port everything would like to have; the next free one is taken when it is in use. */
export type Ports = Record<ServiceName | 'shop' | 'postgres' | 'kafka' | 'redis', number>;

/**
 * INGEST_PORT, API_PORT and SHOP_PORT may be chosen. The others are off the standard ports, where a server of the person's own is
 * likely to be, or to come.
 * @throws SetupProblem naming the variable that is no port.
 */
export function readPorts(env: Record<string, string | undefined>): Ports {
  return {
    'ingest-gateway': readPort(env, 'INGEST_PORT', 8000),
    'management-api': readPort(env, 'API_PORT', 8010),
    shop: readPort(env, 'SHOP_PORT', 8020),
    'event-consumer': readPort(env, 'HEALTH_PORT', 8001),
    'delivery-worker': readPort(env, 'WORKER_HEALTH_PORT', 8021),
    postgres: 15432,
    kafka: 19092,
    redis: 16379,
  };
}

function readPort(env: Record<string, string | undefined>, name: string, standard: number): number {
  const text = env[name];
  if (!text) return standard;
  const port = Number(text);
  if (Number.isInteger(port) && port >= 0 && port <= 65_535) return port;
  throw new SetupProblem(`${name} must be a port between 0 and 65535, not "${text}".`);
}
