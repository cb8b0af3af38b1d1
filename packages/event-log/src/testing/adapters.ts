import net from 'node:net';
import { createDatabase } from '@millrace/db';
import { testServers } from '@millrace/testing';
import type { AppendSettings } from '../append/transport.ts';
import { createKafkaLog } from '../kafka/log.ts';
import type { EventLog } from '../log.ts';
import { createPostgresLog } from '../postgres/log.ts';
import { testLogger } from './test-logger.ts';

export interface LogSettings extends Partial<AppendSettings> {
  proxyPort?: number;
}

export interface OpenLog {
  log: EventLog;
  close(): Promise<void>;
}

/**
 * The session timeout of members in tests, in milliseconds. It is the shortest timeout that a broker allows by default.
 */
export const memberTimeoutMs = 6000;

export type AdapterName = 'kafka' | 'postgres';

/** Opens a log with either adapter for the contract tests. The test file must have its own database. */
export function openLog(name: AdapterName, databaseUrl: string, settings: LogSettings = {}): OpenLog {
  const { proxyPort, ...appendSettings } = settings;
  return name === 'kafka'
    ? openKafkaLog(appendSettings, proxyPort)
    : openPostgresLog(databaseUrl, appendSettings, proxyPort);
}

export function serverAddress(name: AdapterName): { targetHost: string; targetPort: number } {
  const [broker = ''] = testServers().kafkaBrokers;
  const url = new URL(name === 'kafka' ? `tcp://${broker}` : testServers().databaseUrl);
  return { targetHost: url.hostname, targetPort: Number(url.port) };
}

function openKafkaLog(settings: Partial<AppendSettings>, proxyPort: number | undefined): OpenLog {
  const log = createKafkaLog({
    ...settings,
    brokers: testServers().kafkaBrokers,
    clientId: 'event-log-test',
    logger: testLogger(),
    sessionTimeoutMs: memberTimeoutMs,
    heartbeatIntervalMs: 300,
    fetchWaitMs: 100,
    // Brokers advertise their own addresses to clients, so only the socket factory can redirect connections to the
    // proxy.
    ...(proxyPort === undefined
      ? {}
      : {
          socketFactory: ({ onConnect }: { onConnect: () => void }) =>
            net.connect({ host: '127.0.0.1', port: proxyPort }, onConnect),
        }),
  });
  return { log, close: () => log.close() };
}

function openPostgresLog(
  databaseUrl: string,
  settings: Partial<AppendSettings>,
  proxyPort: number | undefined,
): OpenLog {
  const url = new URL(databaseUrl);
  if (proxyPort !== undefined) url.port = String(proxyPort);
  const logger = testLogger();
  const limits = proxyPort === undefined ? {} : { queryTimeoutMs: 2000, connectTimeoutMs: 1500 };
  const database = createDatabase({ url: url.toString(), logger, ...limits });
  const log = createPostgresLog({
    ...settings,
    database,
    logger,
    leaseMs: memberTimeoutMs,
    pollIntervalMs: 50,
  });
  return {
    log,
    async close() {
      await log.close();
      await database.stop();
    },
  };
}
