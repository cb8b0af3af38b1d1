import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { eventually } from '@millrace/testing';
import pg from 'pg';
import { measureStory } from './measure-story.ts';
import type { Story, StoryContext } from './story.ts';

const expiredForMs = 20_000;
const year = 365 * 24 * 3600 * 1000;
const consumer = 'consumer-live';

/**
 * PostgreSQL's certificate runs out, every connection is lost, and a consumer starts anew: nobody who checks it gets a new
 * connection until there is a new certificate.
 */
export const expiredCertificateStory: Story = {
  name: "PostgreSQL's certificate expires",
  run: (context) =>
    measureStory('certificate', context.setting, async () => {
      const { stores, release } = context;
      await serve(context, new Date(Date.now() - 60_000), 'certificate has expired');
      await stores.database.query(
        'SELECT pg_terminate_backend(pid) FROM pg_stat_ssl WHERE ssl AND pid <> pg_backend_pid()',
      );
      const [first] = await release.pods(consumer);
      await release.kubectl('delete', 'pod', String(first?.name), '--wait=false');
      await sleep(expiredForMs);
      const said = await whatIsSaid(context);
      await serve(context, new Date(Date.now() + year), null);
      const renewedAt = performance.now();
      await release.settled();
      const seconds = Math.round((performance.now() - renewedAt) / 1000);
      return `expired for ${expiredForMs / 1000} s with all connections lost: ${said}; all ready ${seconds} s after the new one, without a restart by hand`;
    }),
};

/** @param refusal what a client that checks is told from then on; null when it is let in */
async function serve({ stores }: StoryContext, validUntil: Date, refusal: string | null): Promise<void> {
  await stores.certificate.replace(validUntil);
  await stores.database.query('SELECT pg_reload_conf()');
  await eventually(async () => (await refusalOf(stores.postgres.address, stores.certificate.authority)) === refusal, {
    what: `the certificate until ${validUntil.toISOString()}`,
  });
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

/** What those say who cannot work meanwhile. */
async function whatIsSaid({ release }: StoryContext): Promise<string> {
  const pods = await release.pods(consumer);
  const waiting = pods.filter(({ isReady, isEnding }) => !isReady && !isEnding);
  const logs = await Promise.all(pods.map(({ name }) => release.kubectl('logs', name, '--tail=100').catch(() => '')));
  const named = logs.filter((log) => /certificate has expired|CERT_HAS_EXPIRED/.test(log));
  return `${waiting.length} of ${pods.length} consumers unready, ${named.length} said that it had expired`;
}
