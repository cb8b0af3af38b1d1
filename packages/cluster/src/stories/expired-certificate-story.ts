import { setTimeout as sleep } from 'node:timers/promises';
import { measureStory } from './measure-story.ts';
import type { Story, StoryContext } from './story.ts';

const expiredForMs = 20_000;
const year = 365 * 24 * 3600 * 1000;

/**
 * PostgreSQL's certificate runs out. Whoever is connected stays so; whoever starts now, or loses its connection, is refused
 * until there is a new one.
 */
export const expiredCertificateStory: Story = {
  name: "PostgreSQL's certificate expires",
  run: (context) =>
    measureStory('certificate', context.setting, async () => {
      const { stores, release } = context;
      await serve(context, new Date(Date.now() - 60_000));
      const [consumer] = await release.pods('consumer-live');
      if (consumer === undefined) throw new Error('there is no consumer');
      await stores.database
        .query('SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid() AND ssl_is_used()')
        .catch(() => {});
      await release.kubectl('delete', 'pod', consumer.name, '--wait=false');
      await sleep(expiredForMs);
      const said = await whatIsSaid(context);
      await serve(context, new Date(Date.now() + year));
      await release.settled();
      return said;
    }),
};

async function serve({ stores }: StoryContext, validUntil: Date): Promise<void> {
  await stores.certificate.replace(validUntil);
  await stores.database.query('SELECT pg_reload_conf()');
}

/** Whether a pod that was started meanwhile says why it is not ready. */
async function whatIsSaid({ release }: StoryContext): Promise<string> {
  const waiting = (await release.pods('consumer-live')).find(({ isReady, isEnding }) => !isReady && !isEnding);
  if (waiting === undefined) return 'no pod waited for it';
  const log = await release.kubectl('logs', waiting.name, '--tail=50');
  const isNamed = /certificate has expired|CERT_HAS_EXPIRED/.test(log);
  return `a consumer started meanwhile ${isNamed ? 'said that it had expired' : 'did not say why'} and was ready after the new one`;
}
