// Defines test stories, and measures the installation under load during a story.
import { setTimeout as sleep } from 'node:timers/promises';
import { eventually } from '@millrace/testing';
import type pg from 'pg';
import type { Cluster } from '../cluster.ts';
import { compareEvents, type LoadVerdict } from './judge-load.ts';
import type { Release } from './release.ts';
import { type SdkLoad, startSdkLoad } from './sdk-load.ts';
import type { StoryStores } from './story-stores.ts';

/** The context of a story. The entire installation works when the story begins. */
export interface StoryContext {
  cluster: Cluster;
  release: Release;
  chart: string;
  directory: string;
  stores: StoryStores;
  setting: StorySetting;
  /** Image tags that are available on every node. */
  tags: { installed: string; next: string; broken: string };
  print(line: string): void;
}

/** An incident in an installation under load. The installation must be unchanged after the story. */
export interface Story {
  name: string;
  run(context: StoryContext): Promise<StoryResult>;
}

export interface StoryResult extends LoadVerdict {
  name: string;
  /** How long events were captured, in seconds. */
  seconds: number;
  /** The longest time that a client waited for an acknowledgment. */
  longestGapMs: number;
  /** Number of rejected requests by status. Status 0 means that no response arrived. */
  refusals: ReadonlyMap<number, number>;
  remark: string;
}

interface StorySetting {
  url: string;
  projectApiKey: string;
  database: pg.Pool;
  /** Number of captured events per second, whether or not they can be sent. */
  eventsPerSecond: number;
}

/** How long events are sent before and after the incident, while everything works. */
const calmMs = 5000;
/** Time limit for sending the backlog. The report shows the number of remaining events. */
const catchingUp = { timeoutMs: 60_000 };
/** Maximum recovery time, for example for restarting pods and processing a backlog. */
const patienceMs = 120_000;

/** Sends events during an incident, and compares acknowledged events with stored events. */
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
  const verdict = await compareEvents(load, database, { name, patienceMs });
  const { longestGapMs, refusals } = load;
  return { name, seconds: load.seconds(), longestGapMs, refusals, remark, ...verdict };
}
