// Test stories with a version change: an upgrade and a rollback, a version that never becomes ready, and an upgrade
// from an older release.
import pg from 'pg';
import { buildStoryValues, createFirstOrganization, createNamespace } from './install.ts';
import type { OlderRelease } from './older-release.ts';
import { createRelease, type Release } from './release.ts';
import { measureStory, type Story, type StoryContext, type StoryResult } from './story.ts';

const seconds = (ms: number) => `${Math.round(ms / 1000)} s`;

export const upgradeStory: Story = {
  name: 'rolling upgrade and rollback',
  run: ({ release, setting, tags }) =>
    measureStory('upgrade', setting, async () => {
      const upgrade = await release.deploy({ image: { tag: tags.next } });
      await release.settled();
      const rollback = await release.rollback();
      await release.settled();
      return `upgrade ${seconds(upgrade)}, rollback ${seconds(rollback)}`;
    }),
};

/** Upgrades to a version that starts but never becomes ready. The old pods must keep running. */
export const brokenImageStory: Story = {
  name: 'an image that never becomes ready',
  run: ({ release, setting, tags }) =>
    measureStory('broken', setting, async () => {
      const image = { tag: tags.broken };
      const all = {
        gateway: { image },
        managementApi: { image },
        deliveryWorker: { image },
        consumers: { live: { image } },
      };
      const before = (await release.pods('gateway')).map(({ name }) => name);
      const { status } = await release.tryToDeploy(all, { timeoutSeconds: 40 });
      if (status === 0) throw new Error('helm reported success for an image that never became ready');
      const kept = (await release.pods('gateway')).filter(({ name, isReady }) => isReady && before.includes(name));
      await release.rollback();
      await release.settled();
      return `${kept.length} of ${before.length} gateways continued to serve. Helm failed after its timeout and rolled back.`;
    }),
};

/** Installs an older release next to this version, upgrades it with its database, and rolls back. */
export function createUpgradeStory(older: OlderRelease): Story {
  return {
    name: `upgrade from ${older.commit} and rollback to it`,
    async run(context) {
      const name = `from-${older.commit}`;
      const database = await createDatabase(context, name);
      const { before, after } = releases(context, { older, name, database });
      try {
        await createNamespace(before, context.stores);
        await before.deploy({}, { timeoutSeconds: 420 });
        return await upgradeAndRollBack(context, { name, database, before, after });
      } finally {
        await before.uninstall();
        await database.end();
      }
    },
  };
}

interface Upgrade {
  /** Name of the installation's namespace and database, and prefix of its topics and events. */
  name: string;
  database: pg.Pool;
  before: Release;
  after: Release;
}

async function upgradeAndRollBack(
  { setting }: StoryContext,
  { name, database, before, after }: Upgrade,
): Promise<StoryResult> {
  const projectApiKey = await createFirstOrganization(before);
  const migrated = await countMigrations(database);
  const own = { ...setting, url: await before.urlOf('gateway'), projectApiKey, database };
  return measureStory(name, own, async () => {
    const upgradeMs = await after.deploy();
    await after.settled();
    const migrations = (await countMigrations(database)) - migrated;
    const rollbackMs = await after.rollback();
    await before.settled();
    return `upgrade with ${migrations} migrations ${seconds(upgradeMs)}, rollback ${seconds(rollbackMs)}`;
  });
}

/** Returns the installation as a release with the old chart and image, and as a release with the new ones. */
function releases(
  { cluster, chart, directory, stores, tags }: StoryContext,
  { older, name, database }: { older: OlderRelease; name: string; database: pg.Pool },
): { before: Release; after: Release } {
  const own = { database: String(database.options.connectionString), topicPrefix: `${name}.` };
  const values = buildStoryValues(stores, own);
  const at = (chart: string, tag: string) =>
    createRelease(cluster, { namespace: name, chart, directory, values: { ...values, image: { tag } } });
  return { before: at(older.chart, older.commit), after: at(chart, tags.installed) };
}

async function createDatabase({ stores }: StoryContext, name: string): Promise<pg.Pool> {
  await stores.database.query(`CREATE DATABASE "${name}"`);
  const connectionString = Object.assign(new URL(stores.postgres.address), { pathname: name }).href;
  return new pg.Pool({ connectionString, max: 3 });
}

async function countMigrations(database: pg.Pool): Promise<number> {
  const { rows } = await database.query<{ count: number }>(
    'SELECT count(*)::int AS count FROM _prisma_migrations WHERE finished_at IS NOT NULL',
  );
  return rows[0]?.count ?? 0;
}
