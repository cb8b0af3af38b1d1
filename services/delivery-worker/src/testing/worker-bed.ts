import { createDatabase, type Database } from '@millrace/db';
import { createMailer, type Mailer } from '@millrace/mail';
import { createLogger, createMetrics, type Logger, type Metrics } from '@millrace/runtime';
import { createTestDatabase, type MailServer, startMailServer } from '@millrace/testing';
import { startWebReceiver, type WebReceiver } from './web-receiver.ts';

export interface WorkerBed {
  database: Database;
  databaseUrl: string;
  mailServer: MailServer;
  mailer: Mailer;
  receiver: WebReceiver;
  logger: Logger;
  metrics: Metrics;
  stop(): Promise<void>;
}

/** A database of the test's own, a mail server and a web server, all real. */
export async function startWorkerBed(): Promise<WorkerBed> {
  const testDatabase = await createTestDatabase();
  const logger = createLogger('test', 'error');
  const metrics = createMetrics({ withProcessMetrics: false });
  const database = createDatabase({ url: testDatabase.url, logger, poolSize: 5 });
  const mailServer = await startMailServer();
  const mailer = createMailer(
    { url: mailServer.url, from: 'Millrace <no-reply@millrace.test>', timeoutMs: 5000 },
    { logger, metrics },
  );
  const receiver = await startWebReceiver();
  return {
    database,
    databaseUrl: testDatabase.url,
    mailServer,
    mailer,
    receiver,
    logger,
    metrics,
    async stop() {
      await receiver.stop();
      await mailer.stop();
      await mailServer.stop();
      await database.stop();
      await testDatabase.drop();
    },
  };
}
