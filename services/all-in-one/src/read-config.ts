/** Reads the settings of all services and of the process from one environment, and rejects contradictory settings. */

import { deliveryWorker } from '@millrace/delivery-worker/start';
import { eventConsumer } from '@millrace/event-consumer/start';
import { ingestGateway } from '@millrace/ingest-gateway/start';
import { managementApi } from '@millrace/management-api/start';
import { ConfigError, readConfig, toEnvironmentVariable } from '@millrace/runtime';
import { allInOneConfigSchema } from './config.ts';

type Environment = Record<string, string | undefined>;

/**
 * Reads all settings.
 * @throws ConfigError with the errors of all services without duplicates, and with conflicts between services in the
 * same process
 */
export function readAllConfig(env: Environment) {
  const problems = new Set<string>();
  const attempt = <Config>(read: () => Config): Config | undefined => {
    try {
      return read();
    } catch (error) {
      if (!(error instanceof ConfigError)) throw error;
      for (const problem of error.problems) problems.add(problem);
      return undefined;
    }
  };
  const own = attempt(() => readConfig(allInOneConfigSchema, env));
  const gateway = attempt(() => ingestGateway.readConfig(settingsFor(ingestGateway.name, env)));
  const api = attempt(() => managementApi.readConfig(settingsFor(managementApi.name, env)));
  const consumer = attempt(() => eventConsumer.readConfig(settingsFor(eventConsumer.name, env)));
  const worker = attempt(() => deliveryWorker.readConfig(settingsFor(deliveryWorker.name, env)));
  for (const problem of ownedByProcess(env)) problems.add(problem);
  const ports = { INGEST_PORT: gateway?.ingestPort, API_PORT: api?.apiPort, HEALTH_PORT: own?.healthPort };
  for (const problem of sharedPorts({ ...ports, METRICS_PORT: own?.metricsPort })) problems.add(problem);
  if (problems.size > 0 || !own || !gateway || !api || !consumer || !worker) throw new ConfigError([...problems]);
  return { own, gateway, api, consumer, worker };
}

const prefixOf = (service: string) => `${service.replaceAll('-', '_').toUpperCase()}_`;

/**
 * Returns one service's settings. A setting prefixed with a service's name applies only to that service:
 * `DELIVERY_WORKER_DATABASE_POOL_SIZE` replaces `DATABASE_POOL_SIZE`.
 */
function settingsFor(service: string, env: Environment): Environment {
  const prefix = prefixOf(service);
  const own = Object.entries(env).filter(([name]) => name.startsWith(prefix));
  return { ...env, ...Object.fromEntries(own.map(([name, text]) => [name.slice(prefix.length), text])) };
}

function ownedByProcess(env: Environment): string[] {
  const ofProcess = Object.keys(allInOneConfigSchema.properties)
    .filter((field) => field !== 'logLevel')
    .map(toEnvironmentVariable);
  const services = [ingestGateway, managementApi, eventConsumer, deliveryWorker];
  const names = services.flatMap(({ name }) =>
    ofProcess.map((setting) => ({ setting, name: prefixOf(name) + setting })),
  );
  return names
    .filter(({ name }) => env[name]?.trim())
    .map(({ setting, name }) => `${name} has no effect when one process runs all services. Set ${setting} instead`);
}

/** Returns the ports that are used more than once. Ignores 0, which stands for any free port. */
function sharedPorts(ports: Record<string, number | undefined>): string[] {
  const taken = Object.entries(ports).filter(([, port]) => port !== undefined && port > 0);
  return taken.flatMap(([name, port], at) =>
    taken
      .slice(at + 1)
      .filter(([, other]) => other === port)
      .map(
        ([other]) =>
          `${name} and ${other} are both ${port}. When one process runs all services, each needs a different port`,
      ),
  );
}
