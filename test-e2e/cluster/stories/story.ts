// Defines stories, and measures the load on the installation while a story runs.
import { setTimeout as sleep } from 'node:timers/promises';
import { eventually } from '@millrace/testing';
import type pg from 'pg';
import type { Cluster } from '../cluster.ts';
import { judgeLoad, type LoadVerdict } from './judge-load.ts';
import type { Release } from './release.ts';
import { type SdkLoad, startSdkLoad } from './sdk-load.ts';
import type { StoryStores } from './story-stores.ts';

/** What a story can use. Everything runs without problems when it begins. */
export interface StoryContext {
  cluster: Cluster;
  release: Release;
  chart: string;
  /** Directory for files. */
  directory: string;
  stores: StoryStores;
  setting: StorySetting;
  /** Tags of the images that every node has. */
  tags: { installed: string; next: string; broken: string };
  print(line: string): void;
}

/** An incident in an installation under load. Afterwards, the installation must be as it was before. */
export interface Story {
  name: string;
  run(context: StoryContext): Promise<StoryResult>;
}

export interface StoryResult extends LoadVerdict {
  name: string;
  /** For how many seconds events were captured. */
  seconds: number;
  /** The longest time that a client waited for an acknowledgment. */
  longestGapMs: number;
  /** Number of rejected requests, by status. Status 0 stands for no response. */
  refusals: ReadonlyMap<number, number>;
  /** Additional observations. */
  remark: string;
}

interface StorySetting {
  /** URL to which events are sent. */
  url: string;
  projectApiKey: string;
  database: pg.Pool;
  /** Number of events that are captured per second, whether or not they can be sent. */
  eventsPerSecond: number;
}

/** Time before and after the incident in which nothing happens. */
const calmMs = 5000;
/** Time in which clients can send their backlog. The report shows how many events are still waiting afterwards. */
const catchingUp = { timeoutMs: 60_000 };
/** Maximum time for recovery, such as restarting pods and processing a backlog. */
const patienceMs = 120_000;

/** Sends events during an incident, and compares the acknowledged events with the stored ones. */
export async function measureStory(
  name: string,
  { url, projectApiKey, database, eventsPerSecond }: StorySetting,
  happen: (load: SdkLoad) => Promise<string>,
): Promise<StoryResult> {
  const load = startSdkLoad(url, { projectApiKey, name, eventsPerSecond });
  let remark: string;
  try {
    await sleep(calmMs);
    remark = await happen(load);
    await eventually(() => load.waiting() < eventsPerSecond, catchingUp).catch(() => {});
    await sleep(calmMs);
  } finally {
    await load.stop();
  }
  const verdict = await judgeLoad(load, database, { name, patienceMs });
  const { longestGapMs, refusals } = load;
  return { name, seconds: load.seconds(), longestGapMs, refusals, remark, ...verdict };
}
