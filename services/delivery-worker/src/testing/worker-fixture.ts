import { randomBytes } from 'node:crypto';
import { createDatabase, createReadPool, type Database, type ReadPool } from '@millrace/db';
import {
  createEventStore,
  createPostgresEngine,
  createSqlParser,
  type EventStore,
  type SqlParser,
} from '@millrace/insights';
import {
  createLogger,
  createMetrics,
  createSecretBox,
  type Logger,
  type Metrics,
  type SecretBox,
} from '@millrace/runtime';
import { createMailer, type Mailer } from '@millrace/runtime/mail';
import { createTestDatabase, type MailServer, patienceMs, startMailServer } from '@millrace/testing';
import { createSettledUntil, type SettledUntil } from '../batch-exports/read.ts';
import { startWebReceiver, type WebReceiver } from './web-receiver.ts';

export interface WorkerFixture {
  database: Database;
  databaseUrl: string;
  reader: ReadPool;
  mailServer: MailServer;
  mailer: Mailer;
  events: EventStore;
  isCopied: false;
  parser: SqlParser;
  receiver: WebReceiver;
  logger: Logger;
  metrics: Metrics;
  secretBox: SecretBox;
  secretsKey: string;
  /** Computed as in the worker, but without a minimum age of events. */
  settledUntil: SettledUntil;
  atOnce: SettledUntil;
  stop(): Promise<void>;
}

export async function startWorkerFixture(): Promise<WorkerFixture> {
  const testDatabase = await createTestDatabase();
  const logger = createLogger('test', 'error');
  const metrics = createMetrics({ withProcessMetrics: false });
  const database = createDatabase({ url: testDatabase.url, logger, poolSize: 5, connectTimeoutMs: patienceMs });
  const reader = createReadPool({ url: testDatabase.url, logger, poolSize: 2, statementTimeoutMs: patienceMs });
  const mailServer = await startMailServer();
  const mailer = createMailer(
    { url: mailServer.url, from: 'Millrace <no-reply@millrace.test>', timeoutMs: patienceMs },
    { logger, metrics },
  );
  const parser = createSqlParser();
  const secretsKey = randomBytes(32).toString('base64');
  const receiver = await startWebReceiver();
  return {
    database,
    databaseUrl: testDatabase.url,
    reader,
    mailServer,
    mailer,
    events: createEventStore(createPostgresEngine(reader)),
    isCopied: false,
    parser,
    receiver,
    logger,
    metrics,
    secretBox: createSecretBox(secretsKey),
    secretsKey,
    settledUntil: createSettledUntil({ sql: database.sql, logger }),
    atOnce: createSettledUntil({ sql: database.sql, logger, settleSeconds: 0 }),
    async stop() {
      await parser.stop();
      await receiver.stop();
      await mailer.stop();
      await mailServer.stop();
      await reader.stop();
      await database.stop();
      await testDatabase.drop();
    },
  };
}
