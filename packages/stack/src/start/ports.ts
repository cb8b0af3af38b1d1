import { SetupProblem } from '../command.ts';
import { findFreePort } from '../servers/server-process.ts';

/** Preferred ports. If a port is in use, the next free port is used. */
export type Ports = Record<keyof ServicePorts | 'shop' | 'postgres' | 'kafka' | 'redis', number>;

/** The services' ports: for events and flags, for the management API, and for all services' health and metrics. */
export interface ServicePorts {
  ingest: number;
  api: number;
  health: number;
}

/**
 * Reads INGEST_PORT, API_PORT, HEALTH_PORT and SHOP_PORT. PostgreSQL, Kafka and Redis do not use their standard ports,
 * because the user's own servers are likely to use them.
 * @throws SetupProblem that names the variable with an invalid port
 */
export function readPorts(env: Record<string, string | undefined>): Ports {
  return {
    ingest: readPort(env, 'INGEST_PORT', 8000),
    api: readPort(env, 'API_PORT', 8010),
    health: readPort(env, 'HEALTH_PORT', 8001),
    shop: readPort(env, 'SHOP_PORT', 8020),
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

/** Returns a different free port for each service, which is the preferred port if possible. */
export async function findFreeServicePorts(wanted: ServicePorts): Promise<ServicePorts> {
  const ingest = await findFreePort(wanted.ingest);
  const api = await findFreePort(wanted.api, new Set([ingest]));
  return { ingest, api, health: await findFreePort(wanted.health, new Set([ingest, api])) };
}
