import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { eventually } from '@millrace/testing';
import pg from 'pg';
import { expiredPods } from './expired-pods.ts';
import { measureStory } from './measure-story.ts';
import type { Story, StoryContext } from './story.ts';

const expiredForMs = 20_000;
const year = 365 * 24 * 3600 * 1000;
const consumer = 'consumer-live';

/**
 * PostgreSQL's certificate runs out, every connection is lost, and a consumer starts anew: nobody who checks it gets a new
 * connection until there is a new certificate.
 */
export const postgresCertificateStory: Story = {
  name: "PostgreSQL's certificate expires",
  run: (context) =>
    measureStory('postgres-certificate', context.setting, async () => {
      const { stores, release } = context;
      await serve(context, new Date(Date.now() - 60_000), 'certificate has expired');
      await stores.database.query(
        'SELECT pg_terminate_backend(pid) FROM pg_stat_ssl WHERE ssl AND pid <> pg_backend_pid()',
      );
      const [first] = await release.pods(consumer);
      await release.kubectl('delete', 'pod', String(first?.name), '--wait=false');
      await sleep(expiredForMs);
      const said = await expiredPods(release, consumer, 'consumers');
      await serve(context, new Date(Date.now() + year), null);
      const renewedAt = performance.now();
      await release.settled();
      const seconds = Math.round((performance.now() - renewedAt) / 1000);
      return `expired for ${expiredForMs / 1000} s with all connections lost: ${said}; all ready ${seconds} s after the new one, without a restart by hand`;
    }),
};

/** @param refusal what a client that checks is told from then on; null when it is let in */
async function serve({ stores }: StoryContext, validUntil: Date, refusal: string | null): Promise<void> {
  await stores.certificates.postgres.replace(validUntil);
  await stores.database.query('SELECT pg_reload_conf()');
  await eventually(
    async () => (await refusalOf(stores.postgres.address, stores.certificates.postgres.authority)) === refusal,
    {
      what: `the certificate until ${validUntil.toISOString()}`,
    },
  );
}

async function refusalOf(address: string, authority: string): Promise<string | null> {
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
