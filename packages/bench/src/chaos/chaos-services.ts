import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { type ServiceProcess, startService } from '@millrace/testing';

export const topicPrefix = 'chaos.';
const partitions = 8;
/** Of every service, unless it is told otherwise. */
export const usualSettings = { EVENT_LOG: 'kafka', TOPIC_PREFIX: topicPrefix, TOPIC_PARTITIONS: String(partitions) };

/** Compiled programs of one build. */
export interface ServiceFiles {
  gateway: string;
  consumer: string;
  api: string;
}

export interface ChaosServices {
  /** @param port to listen on, for one that comes back; 0 takes a free one. */
  startGateway(port: number, settings?: Record<string, string>): Promise<ServiceProcess>;
  startConsumer(settings?: Record<string, string>): Promise<ServiceProcess>;
  startManagementApi(): Promise<ServiceProcess>;
}

/**
 * @param settings of all services.
 * @param closers gets what ends them.
 */
export function createServiceStarter(
  settings: Record<string, string>,
  { logs, closers }: { logs: string | null; closers: (() => Promise<unknown> | unknown)[] },
): (files: ServiceFiles) => ChaosServices {
  const shared = {
    ...usualSettings,
    ...{ LOG_LEVEL: logs === null ? 'warn' : 'info', HEALTH_PORT: '0', NODE_ENV: 'production', ...settings },
  };
  if (logs !== null) mkdirSync(logs, { recursive: true });
  let started = 0;
  const services = new Set<ServiceProcess>();
  closers.push(() => Promise.all([...services].map((service) => service.stop())));
  const start = async (name: string, file: string, more: Record<string, string>) => {
    started += 1;
    const logFile = logs === null ? undefined : join(logs, `${String(started).padStart(3, '0')}-${name}.log`);
    const service = await startService(name, file, { ...shared, ...more }, logFile);
    services.add(service);
    return service;
  };
  const unlimited = { API_REQUESTS_PER_MINUTE: '0', API_REQUESTS_PER_HOUR: '0' };
  return ({ gateway, consumer, api }) => ({
    startGateway: (port, more = {}) =>
      start('ingest-gateway', gateway, { ...more, INGEST_PORT: String(port), INGEST_HOST: '127.0.0.1' }),
    startConsumer: (more = {}) => start('event-consumer', consumer, more),
    startManagementApi: () => start('management-api', api, { API_PORT: '0', API_HOST: '127.0.0.1', ...unlimited }),
  });
}
