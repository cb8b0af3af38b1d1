import { randomBytes, randomUUID } from 'node:crypto';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  compilePrograms,
  createFaultProxy,
  eventually,
  type FaultProxy,
  type KafkaFaultProxy,
  type MailServer,
  startKafkaFaultProxy,
  startMailServer,
  startService,
  testServers,
} from '@millrace/testing';
import { Kafka, logLevel } from 'kafkajs';
import pg from 'pg';
import { type RunningServices, startServices } from '../support/start-services.ts';
import type { PlantedMarks } from './planted-marks.ts';

/** The entire system with log level debug. Every server is behind a proxy and has a marked password. */
export interface DebugServices extends RunningServices {
  logs(): string;
  proxies: { postgres: FaultProxy; kafka: KafkaFaultProxy; redis: FaultProxy; mail: FaultProxy };
  deadLettersReach(count: number): Promise<void>;
  makeReportsAndExportsDue(): Promise<void>;
  /** Resolves when all servers are reachable again. */
  untilReady(): Promise<void>;
  /** Starts each service again with wrong passwords, and stops it after a while. */
  startWithWrongLogins(): Promise<void>;
}

const wrongLoginMs = 3000;
const files = ['delivery-worker', 'event-consumer', 'ingest-gateway', 'management-api'] as const;

export async function startDebugServices(marks: PlantedMarks): Promise<DebugServices> {
  const directory = await mkdtemp(join(tmpdir(), 'millrace-logs-'));
  const logFile = join(directory, 'services.log');
  const mailServer = await startMailServer();
  const proxies = await openProxies(mailServer);
  const login = await createLogin(marks.plant('the password of the database'));
  const settings = settingsOf(marks, proxies, mailServer);
  marks.keep('the key of secrets', settings.SECRETS_KEY ?? '');
  const databaseUrlForServices = (url: string) => through(url, proxies.postgres, login.user, login.password);
  const { brokers } = proxies.kafka;
  const services = await startServices({ eventLog: 'kafka', brokers, settings, databaseUrlForServices, logFile });
  const { tenant, databaseUrl, topicPrefix } = services;
  marks.keep('the project key', tenant.projectApiKey);
  marks.keep('the personal key', tenant.personalApiKey);
  await plantDeadLetters(services, marks);

  const programs = await compilePrograms(files.map((name) => `services/${name}/src/main.ts`));
  const common = {
    ...settings,
    DATABASE_URL: databaseUrlForServices(databaseUrl),
    KAFKA_BROKERS: brokers.join(','),
    TOPIC_PREFIX: topicPrefix,
    INGEST_PORT: '0',
    API_PORT: '0',
    HEALTH_PORT: '0',
  };
  const worker = await startService('delivery-worker', programs.files[0] ?? '', common, { logFile });
  let logs = '';
  const reading = setInterval(async () => {
    logs = await readFile(logFile, 'utf8').catch(() => logs);
  }, 50);
  return {
    ...services,
    proxies,
    logs: () => logs,
    deadLettersReach: (count) => deadLettersReach(topicPrefix, count),
    async makeReportsAndExportsDue() {
      await services.database.query(`UPDATE subscription SET next_delivery_date = now()`);
      await services.database.query(
        `INSERT INTO batch_export_run (id, batch_export_id, data_interval_start, data_interval_end)
         SELECT gen_random_uuid(), id, now() - interval '1 hour', now() FROM batch_export`,
      );
    },
    async untilReady() {
      const ports = [services.gateway, ...services.consumers, worker].map(({ port }) => port);
      for (const url of [...ports.map((port) => `http://127.0.0.1:${port}`), services.apiUrl]) {
        await eventually(async () => (await fetch(`${url}/_readiness`)).ok, { what: 'Readiness' });
      }
    },
    startWithWrongLogins: () =>
      startWithWrongLogins(
        programs.files,
        wrongSettings(marks, { common, databaseUrl, proxies, user: login.user }),
        logFile,
      ),
    async stop() {
      clearInterval(reading);
      await worker.stop();
      await services.stop();
      await login.drop();
      await programs.remove();
      for (const proxy of Object.values(proxies)) await proxy.stop();
      await mailServer.stop();
      await rm(directory, { recursive: true });
    },
  };
}

function through(url: string, proxy: { host: string; port: number }, user: string, password: string): string {
  const { host: hostname, port } = proxy;
  return Object.assign(new URL(url), { hostname, port: String(port), username: user, password }).toString();
}

type Proxies = DebugServices['proxies'];

function settingsOf(marks: PlantedMarks, proxies: Proxies, mailServer: MailServer): Record<string, string> {
  return {
    LOG_LEVEL: 'debug',
    NODE_ENV: 'development',
    REDIS_URL: through(testServers().redisUrl, proxies.redis, 'default', marks.plant('the password of Redis')),
    SMTP_URL: through(
      mailServer.url,
      proxies.mail,
      marks.plant('the user of the mail server'),
      marks.plant('its password'),
    ),
    SMTP_TIMEOUT_MS: '2000',
    PUBLIC_API_URL: 'http://127.0.0.1:1',
    PUBLIC_APP_URL: 'http://127.0.0.1:1',
    SECRETS_KEY: randomBytes(32).toString('base64'),
    TOKEN_SECRET: marks.plant('the secret of tokens'),
    ALLOW_PRIVATE_DESTINATIONS: 'true',
    POLL_INTERVAL_MS: '100',
    PUBLISH_PROCESSED: 'on',
    EVENT_LOG_FALLBACK: 'postgres',
    EVENT_LOG_FALLBACK_AFTER_MS: '1000',
    API_WRONG_KEYS_PER_MINUTE: '0',
  };
}

async function deadLettersReach(topicPrefix: string, count: number): Promise<void> {
  const admin = kafkaClient().admin();
  await admin.connect();
  try {
    await eventually(
      async () => {
        const ends = await admin.fetchTopicOffsets(`${topicPrefix}events.dead-letter`);
        const letters = ends.reduce((sum, { high }) => sum + Number(high), 0);
        if (letters < count) throw new Error(`there are ${letters}`);
      },
      { what: `${count} dead letters` },
    );
  } finally {
    await admin.disconnect();
  }
}

interface WrongLogins {
  common: Record<string, string>;
  databaseUrl: string;
  proxies: Proxies;
  user: string;
}

function wrongSettings(
  marks: PlantedMarks,
  { common, databaseUrl, proxies, user }: WrongLogins,
): Record<string, string> {
  return {
    ...common,
    DATABASE_URL: through(databaseUrl, proxies.postgres, user, marks.plant('a wrong password of the database')),
    REDIS_URL: through(testServers().redisUrl, proxies.redis, 'unknown', marks.plant('a wrong password of Redis')),
    KAFKA_SASL_MECHANISM: 'plain',
    KAFKA_SASL_USERNAME: marks.plant('a user of Kafka'),
    KAFKA_SASL_PASSWORD: marks.plant('a password of Kafka'),
    TOPIC_PREFIX: `${common.TOPIC_PREFIX}none.`,
  };
}

async function startWithWrongLogins(
  programs: readonly string[],
  wrong: Record<string, string>,
  logFile: string,
): Promise<void> {
  const attempts = files.map(async (name, index) => {
    // If a server is not available, some services exit and the others wait. Both log the reason.
    const started = await startService(name, programs[index] ?? '', wrong, { logFile }).catch(() => null);
    await sleep(wrongLoginMs);
    await started?.stop();
  });
  await Promise.all(attempts);
}

async function openProxies(mailServer: MailServer): Promise<DebugServices['proxies']> {
  const to = (url: string, usualPort: number) => {
    const { hostname, port } = new URL(url);
    return createFaultProxy({ targetHost: hostname, targetPort: Number(port || usualPort) });
  };
  return {
    postgres: await to(testServers().databaseUrl, 5432),
    kafka: await startKafkaFaultProxy(testServers().kafkaBrokers),
    redis: await to(testServers().redisUrl, 6379),
    mail: await to(mailServer.url, 25),
  };
}

const kafkaClient = () => new Kafka({ brokers: testServers().kafkaBrokers, logLevel: logLevel.NOTHING });

/** Creates a role that must use a password, even if the server does not require passwords for other roles. */
async function createLogin(password: string): Promise<{ user: string; password: string; drop(): Promise<void> }> {
  const user = `debug_${randomBytes(6).toString('hex')}`;
  const run = async (statement: string) => {
    const client = new pg.Client({ connectionString: testServers().databaseUrl });
    await client.connect();
    await client.query(statement).finally(() => client.end());
  };
  await run(`CREATE ROLE ${user} SUPERUSER LOGIN PASSWORD '${password}'`);
  return { user, password, drop: () => run(`DROP ROLE ${user}`) };
}

/** Appends records that no gateway would write, and that become dead letters. */
async function plantDeadLetters({ topicPrefix, tenant }: RunningServices, marks: PlantedMarks): Promise<void> {
  const producer = kafkaClient().producer();
  const key = `${tenant.projectApiKey}:${marks.plant('an address in the key of a record')}@example.com`;
  const ahead = {
    kind: 'event',
    uuid: randomUUID(),
    token: tenant.projectApiKey,
    distinct_id: marks.plant('the distinct id of a dead letter'),
    event: marks.plant('the name of a dead letter'),
    timestamp: '2999-01-01T00:00:00.000Z',
    now: new Date().toISOString(),
    ip: '203.0.113.78',
    properties: { secret: marks.plant('a property of a dead letter') },
  };
  const values = [
    JSON.stringify(ahead),
    `{"kind":"event","token":"${marks.plant('the token of broken JSON')}"`,
    JSON.stringify({ ...ahead, timestamp: marks.plant('a wrong time in a record') }),
    JSON.stringify({ ...ahead, uuid: marks.plant('a wrong uuid in a record') }),
  ];
  await producer.connect();
  try {
    await producer.send({ topic: `${topicPrefix}events.live`, messages: values.map((value) => ({ key, value })) });
  } finally {
    await producer.disconnect();
  }
}
