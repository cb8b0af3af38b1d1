import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { connect } from 'node:tls';
import { eventually } from '@millrace/testing';
import pg from 'pg';
import { measureRecovery } from './judge-load.ts';
import type { Release } from './release.ts';
import { measureStory, type Story, type StoryContext } from './story.ts';

const expiredForMs = 20_000;
const year = 365 * 24 * 3600 * 1000;
const consumer = 'consumer-live';

/**
 * PostgreSQL's certificate expires, all connections are lost, and a consumer restarts. Clients that verify the
 * certificate can connect again only after the server has a new certificate.
 */
export const postgresCertificateStory: Story = {
  name: "PostgreSQL's certificate expires",
  run: (context) =>
    measureStory('postgres-certificate', context.setting, async () => {
      const { stores, release } = context;
      await servePostgres(context, new Date(Date.now() - 60_000), 'certificate has expired');
      await stores.database.query(
        'SELECT pg_terminate_backend(pid) FROM pg_stat_ssl WHERE ssl AND pid <> pg_backend_pid()',
      );
      const [first] = await release.pods(consumer);
      await release.kubectl('delete', 'pod', String(first?.name), '--wait=false');
      await sleep(expiredForMs);
      const said = await expiredPods(release, consumer, 'consumers');
      await servePostgres(context, new Date(Date.now() + year), null);
      const renewedAt = performance.now();
      await release.settled();
      const seconds = Math.round((performance.now() - renewedAt) / 1000);
      return `The certificate was expired for ${expiredForMs / 1000} s, and all connections were closed: ${said}. All pods were ready ${seconds} s after the renewal, without a manual restart.`;
    }),
};

/**
 * @param refusal the connection error that clients must receive from now on, or null if they must be able to connect
 */
async function servePostgres({ stores }: StoryContext, validUntil: Date, refusal: string | null): Promise<void> {
  await stores.certificates.postgres.replace(validUntil);
  await stores.database.query('SELECT pg_reload_conf()');
  await eventually(
    async () => (await refusalOfPostgres(stores.postgres.address, stores.certificates.postgres.authority)) === refusal,
    {
      what: `the certificate until ${validUntil.toISOString()}`,
    },
  );
}

async function refusalOfPostgres(address: string, authority: string): Promise<string | null> {
  const ssl = { ca: readFileSync(authority, 'utf8'), rejectUnauthorized: true };
  const client = new pg.Client({ connectionString: address, ssl });
  client.on('error', () => {});
  try {
    await client.connect();
    return null;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  } finally {
    await client.end().catch(() => {});
  }
}

/**
 * The broker restarts with an expired certificate. Clients that verify the certificate can connect again only after the
 * broker has a new certificate.
 */
export const kafkaCertificateStory: Story = {
  name: "Kafka's certificate expires",
  run: (context) =>
    measureStory('kafka-certificate', context.setting, async (load) => {
      const { release } = context;
      await serveKafka(context, new Date(Date.now() - 60_000), 'CERT_HAS_EXPIRED');
      await sleep(expiredForMs);
      const said = [
        await expiredPods(release, 'gateway', 'gateways'),
        await expiredPods(release, 'consumer-live', 'consumers'),
      ];
      await serveKafka(context, new Date(Date.now() + year), null);
      const served = await measureRecovery(load);
      await release.settled();
      return `The certificate was expired for ${expiredForMs / 1000} s, and all connections were closed: ${said.join('; ')}. All clients were served again ${Math.round(served / 1000)} s after the renewal. All pods were ready without a manual restart.`;
    }),
};

/**
 * @param refusal the connection error that clients must receive from now on, or null if they must be able to connect
 */
async function serveKafka({ stores }: StoryContext, validUntil: Date, refusal: string | null): Promise<void> {
  const { kafka, kafkaByTls, certificates } = stores;
  await certificates.kafka.replace(validUntil);
  // A broker reads its certificate only when it starts.
  await kafka.kill();
  await kafka.restart();
  await eventually(async () => (await refusalOfKafka(kafkaByTls, certificates.kafka.authority)) === refusal, {
    what: `the certificate until ${validUntil.toISOString()}`,
  });
}

async function refusalOfKafka(address: string, authority: string): Promise<string | null> {
  const [host, port] = address.split(':');
  const socket = connect({ host, port: Number(port), ca: readFileSync(authority) });
  try {
    return await new Promise((resolve) => {
      socket.once('secureConnect', () => resolve(null));
      socket.once('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message));
    });
  } finally {
    socket.destroy();
  }
}

/** Counts a component's unready pods, and how many of them report an expired certificate. */
async function expiredPods(release: Release, component: string, called: string): Promise<string> {
  const pods = await release.pods(component);
  const waiting = pods.filter(({ isReady, isEnding }) => !isReady && !isEnding);
  const logs = await Promise.all(pods.map(({ name }) => release.kubectl('logs', name, '--tail=100').catch(() => '')));
  const named = logs.filter((log) => /certificate has expired|CERT_HAS_EXPIRED/.test(log));
  return `${waiting.length} of ${pods.length} ${called} not ready, ${named.length} logged that the certificate had expired`;
}
