/** Histories as chance has it, in the store and in memory. */

import { createTestTenant } from '@millrace/testing';
import fc from 'fast-check';
import { type Dataset, merge, storeDataset } from './case-world.ts';
import type { History } from './naive-answers.ts';
import type { TestStore } from './test-store.ts';

export const eventNames = ['open', 'fill', 'send'] as const;
const persons = ['p0', 'p1', 'p2', 'p3', 'p4', 'p5'];
const tiers = ['gold', 'gold', 'silver', '', null, undefined];
const zones = ['Europe/Berlin', 'UTC', 'America/St_Johns', 'Asia/Kathmandu'];
const daySeconds = 86_400;
/** Two weeks are asked about, in which Berlin has a day of 25 hours, or one of 23. */
const beginnings = ['2026-10-18', '2026-03-22'];

/** Most events lie in the two weeks; some came a year late, some have a clock that goes ahead. */
const second = fc.oneof(
  { weight: 8, arbitrary: fc.integer({ min: 0, max: 14 * daySeconds - 1 }) },
  { weight: 1, arbitrary: fc.integer({ min: -400 * daySeconds, max: -1 }) },
  { weight: 1, arbitrary: fc.integer({ min: 14 * daySeconds, max: 60 * daySeconds }) },
);
const told = fc.record({
  event: fc.constantFrom(...eventNames),
  id: fc.constantFrom(...persons.flatMap((person) => [person, `${person}-anon`])),
  /** Seconds from the beginning; no two events at the same moment. */
  at: second,
  plan: fc.constantFrom('free', 'pro', 7, true, null, '', undefined),
  amount: fc.constantFrom(1, 2.5, -3, '4.5', 'many', true, undefined),
});
export const history = fc.record({
  beginning: fc.constantFrom(...beginnings),
  events: fc.uniqueArray(told, { selector: ({ at }) => at, minLength: 20, maxLength: 80 }),
  zone: fc.constantFrom(...zones),
  merges: fc.uniqueArray(fc.tuple(fc.constantFrom(...persons), fc.constantFrom(...persons)), {
    selector: ([from]) => from,
    maxLength: 2,
  }),
});
type Told = typeof history extends fc.Arbitrary<infer T> ? T : never;

/** Who is who in the end: each id belongs to its person, and merges move all ids of one to another. */
function ownersOf({ merges }: Told): { owners: Map<string, string>; done: [string, string][] } {
  const owners = new Map(
    persons.flatMap((person): [string, string][] => [
      [person, person],
      [`${person}-anon`, person],
    ]),
  );
  const done: [string, string][] = [];
  for (const [from, into] of merges) {
    const [gone, stays] = [owners.get(from) ?? from, owners.get(into) ?? into];
    if (gone === stays) continue;
    for (const [id, owner] of owners) if (owner === gone) owners.set(id, stays);
    done.push([from, into]);
  }
  return { owners, done };
}

/** A history that is stored in a project of its own. */
export interface StoredHistory {
  projectId: number;
  /** The day on which the two weeks begin. */
  beginning: string;
  memory: History;
}

export async function storeHistory({ database }: TestStore, given: Told): Promise<StoredHistory> {
  const { environmentId: projectId } = await createTestTenant(database);
  const beginning = Date.parse(given.beginning);
  const created = new Map(persons.map((person, at) => [person, beginning + at * 30 * 3_600_000]));
  const events = given.events.map(({ event, id, at, plan, amount }) => ({
    ...{ event, id, time: beginning + at * 1000 },
    properties: { ...(plan !== undefined && { plan }), ...(amount !== undefined && { amount }) },
  }));
  const dataset: Dataset = {
    persons: persons.map((person, at) => ({
      distinct_ids: [person, `${person}-anon`],
      created_at: new Date(created.get(person) ?? 0).toISOString(),
      properties: tiers[at] === undefined ? {} : { tier: tiers[at] },
    })),
    events: events.map(({ event, id, time, properties }) => ({
      ...{ event, distinct_id: id, timestamp: new Date(time).toISOString(), properties },
    })),
  };
  await storeDataset(database.sql, projectId, dataset);
  const { owners, done } = ownersOf(given);
  for (const pair of done) await merge(database.sql, projectId, pair);
  for (const [from, into] of done) {
    const stays = owners.get(into) ?? into;
    created.set(stays, Math.min(created.get(stays) ?? 0, created.get(from) ?? 0));
  }
  await database.sql.query('UPDATE environment SET timezone = $2, week_start_day = 1 WHERE id = $1', [
    projectId,
    given.zone,
  ]);
  return {
    ...{ projectId, beginning: given.beginning },
    memory: {
      ...{ created, zone: given.zone },
      tiers: new Map(persons.map((person, at) => [person, tiers[at]])),
      events: events.map(({ id, ...event }) => ({ ...event, person: owners.get(id) ?? id })),
    },
  };
}
