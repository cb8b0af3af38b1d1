import { SetupProblem } from '../command.ts';
import { freePort } from '../servers/server-process.ts';

/** Which port everything would like to have; the next free one is taken when it is in use. */
export type Ports = Record<keyof ServicePorts | 'shop' | 'postgres' | 'kafka' | 'redis', number>;

/** Where the services listen: events and flags, the management API, health and metrics of all. */
export interface ServicePorts {
  ingest: number;
  api: number;
  health: number;
}

/**
 * INGEST_PORT, API_PORT, HEALTH_PORT and SHOP_PORT may be chosen. The others are off the standard ports, where a server of the person's own is
 * likely to be, or to come.
 * @throws SetupProblem naming the variable that is no port.
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

/** Ports for the services that nobody listens on, the wanted ones first. */
export async function freeServicePorts(wanted: ServicePorts): Promise<ServicePorts> {
  const ingest = await freePort(wanted.ingest);
  const api = await freePort(wanted.api, new Set([ingest]));
  return { ingest, api, health: await freePort(wanted.health, new Set([ingest, api])) };
}
