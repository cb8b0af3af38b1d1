import { SetupProblem } from '@millrace/stack/command';
import type { Cluster } from '../cluster.ts';
import { kafkaCertificateStory, postgresCertificateStory } from './certificate-stories.ts';
import { connectionsStory } from './connections-story.ts';
import { fullDiskStory } from './full-disk-story.ts';
import { buildStoryValues, installMillrace, loadImages } from './install.ts';
import type { OlderRelease } from './older-release.ts';
import { drainStory, killStory } from './pod-stories.ts';
import { createRelease } from './release.ts';
import { scaleStory } from './scale-story.ts';
import type { Story, StoryContext, StoryResult } from './story.ts';
import { type ClusterReport, formatRefusals } from './story-report.ts';
import { startStores } from './story-stores.ts';
import { brokenImageStory, createUpgradeStory, upgradeStory } from './upgrade-stories.ts';

const stories: Story[] = [
  ...[scaleStory, killStory, drainStory, upgradeStory],
  ...[brokenImageStory, fullDiskStory, postgresCertificateStory, kafkaCertificateStory],
  connectionsStory,
];

export interface StoriesOptions {
  directory: string;
  chart: string;
  image: string;
  version: string;
  /** Older releases for the upgrade stories. One more story always upgrades to this version under a different name. */
  older: OlderRelease[];
  eventsPerSecond: number;
  /** Names of the stories to run. Null means all stories. */
  only: string[] | null;
  print(line: string): void;
}

type Told = Omit<ClusterReport, 'surroundings'>;

/** Installs the chart on a cluster, and runs the stories on that installation. */
export async function runStories(cluster: Cluster, options: StoriesOptions): Promise<Told> {
  const { directory, chart, print, only } = options;
  print('starting PostgreSQL, Kafka and Redis, and loading the image');
  const [stores, tags] = await Promise.all([
    startStores(`${directory}/stores`),
    loadImages(cluster, { ...options, others: options.older.map(({ image }) => image) }),
  ]);
  const release = createRelease(cluster, {
    namespace: 'analytics',
    chart,
    directory,
    values: buildStoryValues(stores),
  });
  print('installing');
  const { projectApiKey, seconds } = await installMillrace(release, stores);
  print(
    `  ${Object.entries(seconds)
      .map(([what, value]) => `${what} ${value.toFixed(0)} s`)
      .join(', ')}`,
  );
  const [failure] = cluster.failures();
  if (failure !== undefined) throw new SetupProblem(`A part of the cluster has ended:\n${failure}`);
  const url = await release.urlOf('gateway');
  const setting = { url, projectApiKey, database: stores.database, eventsPerSecond: options.eventsPerSecond };
  const context: StoryContext = { cluster, release, chart, directory, stores, setting, tags, print };
  const { eventsPerSecond } = options;
  const report: Told = { installation: seconds, eventsPerSecond, results: [], failures: [] };
  const all = [...stories, ...options.older.map(createUpgradeStory)];
  for (const story of all.filter(({ name }) => only?.some((word) => name.includes(word)) ?? true)) {
    print(story.name);
    try {
      const result = { ...(await story.run(context)), name: story.name };
      report.results.push(result);
      print(`  ${summary(result)}`);
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      report.failures.push({ name: story.name, reason });
      print(`  ${reason}\n${await release.kubectl('get', 'pods', '-o', 'wide').catch(String)}`);
      await restore(context).catch((failure) => print(`  not restored: ${failure}`));
    }
  }
  return report;
}

/** Restores the installation, so that an aborted story does not affect the next story. */
async function restore({ cluster, release, stores }: StoryContext): Promise<void> {
  for (const { name } of cluster.nodes) await release.kubectl('uncordon', name);
  await stores.kafka.restart();
  await release.deploy();
  await release.settled();
}

function summary(result: StoryResult): string {
  const { acknowledged, stored, lost, doubled, misordered, seconds, longestGapMs, remark } = result;
  const counts = Object.entries({ acknowledged, stored, lost, doubled, misordered });
  const rate = Math.round(acknowledged / seconds);
  return [
    ...counts.map(([name, value]) => `${name} ${value}`),
    ...[
      `refused ${formatRefusals(result)}`,
      `${rate} events/s`,
      `longest gap ${(longestGapMs / 1000).toFixed(1)} s`,
      remark,
    ],
  ].join(', ');
}
