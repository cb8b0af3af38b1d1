/** Random histories of events. Each history is stored in a project and also kept in memory. */

import { createTestTenant } from '@millrace/testing';
import fc from 'fast-check';
import { type Dataset, deletePerson, merge, split, storeDataset } from './case-world.ts';
import type { History } from './naive-results.ts';
import type { TestStore } from './test-store.ts';

export const eventNames = ['open', 'fill', 'send'] as const;
const persons = ['p0', 'p1', 'p2', 'p3', 'p4', 'p5'];
const tiers = ['gold', 'gold', 'silver', '', null, undefined];
const zones = ['Europe/Berlin', 'UTC', 'America/St_Johns', 'Asia/Kathmandu'];
const daySeconds = 86_400;
/** Queries cover the two weeks after one of these dates. In Berlin, one day of these weeks has 25 or 23 hours. */
const beginnings = ['2026-10-18', '2026-03-22'];

/** Most events are within the two weeks. Some are up to 400 days older, and some are in the future. */
const second = fc.oneof(
  { weight: 8, arbitrary: fc.integer({ min: 0, max: 14 * daySeconds - 1 }) },
  { weight: 1, arbitrary: fc.integer({ min: -400 * daySeconds, max: -1 }) },
  { weight: 1, arbitrary: fc.integer({ min: 14 * daySeconds, max: 60 * daySeconds }) },
);
const randomEvent = fc.record({
  event: fc.constantFrom(...eventNames),
  id: fc.constantFrom(...persons.flatMap((person) => [person, `${person}-anon`])),
  /** Seconds after the start. Each value is unique, so that no two events are simultaneous. */
  at: second,
  plan: fc.constantFrom('free', 'pro', 7, true, null, '', undefined),
  amount: fc.constantFrom(1, 2.5, -3, '4.5', 'many', true, undefined),
});
export const history = fc.record({
  beginning: fc.constantFrom(...beginnings),
  events: fc.uniqueArray(randomEvent, { selector: ({ at }) => at, minLength: 20, maxLength: 80 }),
  zone: fc.constantFrom(...zones),
  merges: fc.uniqueArray(fc.tuple(fc.constantFrom(...persons), fc.constantFrom(...persons)), {
    selector: ([from]) => from,
    maxLength: 2,
  }),
  /** Persons that are deleted after the merges. Their events remain. */
  deletions: fc.uniqueArray(fc.constantFrom(...persons), { maxLength: 1 }),
  /** Distinct IDs that get a new person at the end of the history. */
  splits: fc.uniqueArray(fc.constantFrom(...persons.map((person) => `${person}-anon`)), { maxLength: 2 }),
});
type RandomHistory = typeof history extends fc.Arbitrary<infer T> ? T : never;

/**
 * Returns the final owner of each distinct ID. Initially, each ID has its own person, and a merge moves all IDs of a
 * person to another person.
 */
function ownersOf({ merges }: RandomHistory): { owners: Map<string, string>; done: [string, string][] } {
  const owners = new Map(
    persons.flatMap((person): [string, string][] => [
      [person, person],
      [`${person}-anon`, person],
    ]),
  );
  const done: [string, string][] = [];
  for (const [from, into] of merges) {
    const [merged, stays] = [owners.get(from) ?? from, owners.get(into) ?? into];
    if (merged === stays) continue;
    for (const [id, owner] of owners) if (owner === merged) owners.set(id, stays);
    done.push([from, into]);
  }
  return { owners, done };
}

const newPersonOf = (id: string) => `new person of ${id}`;

export interface StoredHistory {
  projectId: number;
  /** First day of the two weeks that queries cover. */
  beginning: string;
  memory: History;
}

export async function storeHistory({ database }: TestStore, given: RandomHistory): Promise<StoredHistory> {
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
  const living = new Set(owners.values());
  for (const person of persons) if (!living.has(person)) created.delete(person);
  for (const id of given.deletions) {
    const deleted = owners.get(id) ?? id;
    await deletePerson(database.sql, projectId, id);
    created.delete(deleted);
    // Events of a deleted person count for the person that was stored with the events.
    for (const [other, owner] of owners) if (owner === deleted) owners.set(other, other);
  }
  for (const id of given.splits) {
    await split(database.sql, projectId, { id, into: newPersonOf(id), createdAt: new Date(beginning) });
    owners.set(id, newPersonOf(id));
    created.set(newPersonOf(id), beginning);
  }
  await database.sql.query('UPDATE environment SET timezone = $2, week_start_day = 1 WHERE id = $1', [
    projectId,
    given.zone,
  ]);
  return {
    ...{ projectId, beginning: given.beginning },
    memory: {
      ...{ created, zone: given.zone },
      tiers: new Map(persons.flatMap((person, at) => (created.has(person) ? [[person, tiers[at]]] : []))),
      events: events.map(({ id, ...event }) => ({ ...event, person: owners.get(id) ?? id })),
    },
  };
}
