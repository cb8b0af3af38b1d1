import { setTimeout as sleep } from 'node:timers/promises';
import { type ClientLoad, startClientLoad } from '@millrace/bench/src/chaos/client-load.ts';
import { awaitStored, misorderedEvents } from '@millrace/bench/src/chaos/stored-events.ts';
import type pg from 'pg';

export interface StoryResult {
  name: string;
  seconds: number;
  acknowledged: number;
  refused: number;
  stored: number;
  /** Acknowledged and not stored. */
  lost: number;
  /** Stored more than once. */
  doubled: number;
  /** Stored before one of the same distinct id that had been acknowledged before it was sent. */
  misordered: number;
  /** The longest any client waited for an acknowledgment. */
  longestGapMs: number;
  /** What else was seen. */
  remark: string;
}

export interface StorySetting {
  /** Where events are sent. */
  url: string;
  projectApiKey: string;
  database: pg.Pool;
}

/** What is about 2,000 events a second where a request is answered in 50 ms. */
const clients = 48;
/** How long all is well before something happens, and after it. */
const calmMs = 5000;
/** What may take a while: pods that come back, a backlog that is worked off. */
const patienceMs = 120_000;

/** Sends events while something happens, and compares what was acknowledged with what is stored. */
export async function measureStory(
  name: string,
  { url, projectApiKey, database }: StorySetting,
  happen: (load: ClientLoad) => Promise<string>,
): Promise<StoryResult> {
  const startedAt = performance.now();
  const load = startClientLoad([url], { projectApiKey, name, clients });
  let remark: string;
  try {
    await sleep(calmMs);
    remark = await happen(load);
    await sleep(calmMs);
  } finally {
    await load.stop();
  }
  const seconds = (performance.now() - startedAt) / 1000;
  const stored = await awaitStored(database, load.acknowledged, { patienceMs, name: `${name}-` });
  return {
    ...{ name, seconds, remark, refused: load.refused, longestGapMs: load.longestGapMs },
    acknowledged: load.acknowledged.size,
    stored: [...load.sent].filter((uuid) => stored.has(uuid)).length,
    lost: [...load.acknowledged].filter((uuid) => !stored.has(uuid)).length,
    doubled: [...load.sent].filter((uuid) => (stored.get(uuid) ?? 0) > 1).length,
    misordered: await misorderedEvents(database, name),
  };
}
