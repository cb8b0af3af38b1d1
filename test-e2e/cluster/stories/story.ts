// What a story is, and how the load on the installation is measured while it happens.
import { setTimeout as sleep } from 'node:timers/promises';
import { eventually } from '@millrace/testing';
import type pg from 'pg';
import type { Cluster } from '../cluster.ts';
import { judgeLoad, type LoadVerdict } from './judge-load.ts';
import type { Release } from './release.ts';
import { type SdkLoad, startSdkLoad } from './sdk-load.ts';
import type { StoryStores } from './story-stores.ts';

/** What a story has to work with: everything runs, and all is well. */
export interface StoryContext {
  cluster: Cluster;
  release: Release;
  chart: string;
  /** For files. */
  directory: string;
  stores: StoryStores;
  setting: StorySetting;
  /** Tags of the image that every node has. */
  tags: { installed: string; next: string; broken: string };
  print(line: string): void;
}

/** Something that happens to an installation under load. It leaves everything as it was. */
export interface Story {
  name: string;
  run(context: StoryContext): Promise<StoryResult>;
}

export interface StoryResult extends LoadVerdict {
  name: string;
  /** How long events were captured. */
  seconds: number;
  /** The longest any client waited for an acknowledgment. */
  longestGapMs: number;
  /** How often, by status; 0 is an answer that never came. */
  refusals: ReadonlyMap<number, number>;
  /** What else was seen. */
  remark: string;
}

interface StorySetting {
  /** Where events are sent. */
  url: string;
  projectApiKey: string;
  database: pg.Pool;
  /** Captured, whether or not they can be sent. */
  eventsPerSecond: number;
}

/** How long all is well before something happens, and after it. */
const calmMs = 5000;
/** Sending what had to wait. What still waits then, the rate shows. */
const catchingUp = { timeoutMs: 60_000 };
/** What may take a while: pods that come back, a backlog that is worked off. */
const patienceMs = 120_000;

/** Sends events while something happens, and compares what was acknowledged with what is stored. */
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
