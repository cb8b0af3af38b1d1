import { setTimeout as sleep } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import { expectedState, type StoryEvent, storedState } from '@millrace/testing';
import type { Pool } from 'pg';

export interface StateCheck {
  /** Different events that were acknowledged. */
  expected: number;
  stored: number;
  /** Acknowledged and not stored. */
  lost: number;
  /** Stored more than once. */
  doubled: number;
  /** Events, persons (with their distinct ids) and groups that are not as they must be, or should not be there. */
  wrong: number;
  /** Some of what is wrong. The story is made up, so its values may be shown. */
  examples: string[];
}

/** Works out from what was sent what must be stored, in another way than the service does, and compares all of it. */
export async function checkState(
  database: Pool,
  sent: readonly (readonly StoryEvent[])[],
  projectId: number | null = null,
): Promise<StateCheck> {
  const expected = expectedState(sent);
  const stored = await storedState({ database, projectId });
  const counts = new Map<string, number>();
  for (const { uuid } of stored.events) counts.set(uuid, (counts.get(uuid) ?? 0) + 1);
  const lost = [...expected.events.keys()].filter((uuid) => !counts.has(uuid));
  const wrong = [...wrongEvents(expected, stored), ...wrongPersons(expected, stored), ...wrongGroups(expected, stored)];
  return {
    ...{ expected: expected.events.size, stored: counts.size, lost: lost.length, wrong: wrong.length },
    doubled: [...counts.values()].filter((count) => count > 1).length,
    examples: [...lost.slice(0, 3).map((uuid) => `lost event ${uuid}`), ...wrong].slice(0, 10),
  };
}

type Expected = ReturnType<typeof expectedState>;
type Stored = Awaited<ReturnType<typeof storedState>>;

function wrongEvents(expected: Expected, stored: Stored): string[] {
  return stored.events.flatMap((event) => {
    const was = expected.events.get(event.uuid);
    const isRight =
      was !== undefined &&
      // An exact synonym, stored under the one name.
      event.event === (was.event === '$group_identify' ? '$groupidentify' : was.event) &&
      event.distinct_id === was.distinct_id &&
      event.timestamp === was.timestamp &&
      event.n === (was.properties.n ?? null) &&
      event.company === ((was.properties.$groups as { company: string } | undefined)?.company ?? null);
    return isRight ? [] : [`event ${event.uuid} (${event.event})`];
  });
}

function wrongPersons(expected: Expected, stored: Stored): string[] {
  const wrong: string[] = [];
  const left = new Map(stored.persons.map((person) => [String(person.distinctIds?.[0]), person]));
  for (const person of expected.persons) {
    const name = String(person.distinctIds[0]);
    const found = left.get(name);
    left.delete(name);
    if (found === undefined) {
      wrong.push(`no person for ${name}`);
      continue;
    }
    const { creatorEventUuid, ...rest } = found;
    // Where the legal orders of the partitions differ: any of the person's ids, and of its times.
    const certain = {
      ...person,
      mainDistinctId: person.mainDistinctId ?? rest.mainDistinctId,
      createdAt: person.createdAt ?? rest.createdAt,
    };
    const differences = [
      ...differingFields(rest, certain),
      ...(rest.distinctIds.includes(rest.mainDistinctId) ? [] : ['mainDistinctId']),
      ...(expected.events.has(creatorEventUuid) ? [] : ['creatorEventUuid']),
    ];
    if (differences.length > 0) wrong.push(`person of ${name}: ${differences.join(', ')}`);
  }
  return [...wrong, ...[...left.keys()].map((name) => `unexpected person: ${name}`)];
}

function wrongGroups(expected: Expected, stored: Stored): string[] {
  const nameOf = ({ type, key }: { type: string; key: string }) => `${type} ${key}`;
  const left = new Map(stored.groups.map((group) => [nameOf(group), group]));
  const wrong: string[] = [];
  for (const group of expected.groups) {
    if (!isDeepStrictEqual(left.get(nameOf(group)), group)) wrong.push(`group ${nameOf(group)}`);
    left.delete(nameOf(group));
  }
  return [...wrong, ...[...left.keys()].map((name) => `unexpected group: ${name}`)];
}

/** Names of what differs; of properties their keys, which the story has made up itself. */
function differingFields(found: object, wanted: object, prefix = ''): string[] {
  const of = (value: object, key: string) => (value as Record<string, unknown>)[key];
  const keys = [...new Set([...Object.keys(found), ...Object.keys(wanted)])];
  return keys.flatMap((key) => {
    const [one, other] = [of(found, key), of(wanted, key)];
    if (isDeepStrictEqual(one, other)) return [];
    const areObjects = typeof one === 'object' && typeof other === 'object' && one !== null && other !== null;
    if (areObjects && !Array.isArray(one)) return differingFields(one, other, `${prefix}${key}.`);
    return [`${prefix}${key} is ${JSON.stringify(one)}, not ${JSON.stringify(other)}`];
  });
}

/** How often each uuid is stored whose distinct id begins so. */
async function storedEvents(database: Pool, name: string): Promise<Map<string, number>> {
  const { rows } = await database.query<{ uuid: string; count: number }>(
    'SELECT uuid::text, count(*)::int AS count FROM event WHERE starts_with(distinct_id, $1) GROUP BY uuid',
    [name],
  );
  return new Map(rows.map(({ uuid, count }) => [uuid, count]));
}

/** Events of a phase that were stored in an earlier transaction than one that was sent, and acknowledged, before them. */
export async function misorderedEvents(database: Pool, name: string): Promise<number> {
  const { rows } = await database.query<{ count: number }>(
    `SELECT count(*)::int AS count FROM (
       SELECT created_at, lag(created_at) OVER (PARTITION BY distinct_id ORDER BY (properties->>'number')::int) AS before
       FROM event WHERE starts_with(distinct_id, $1)
     ) AS pairs WHERE created_at < before`,
    [`${name}-`],
  );
  return rows[0]?.count ?? 0;
}

const lookEveryMs = 1000;

/**
 * Waits until all of them are stored, or until nothing more has been stored for `patienceMs`: what is missing then is
 * lost.
 * @param options.name what their distinct ids begin with, so that only those are looked at
 */
export async function awaitStored(
  database: Pool,
  uuids: ReadonlySet<string>,
  { patienceMs = 30_000, name = '' }: { patienceMs?: number; name?: string } = {},
): Promise<Map<string, number>> {
  let best = -1;
  let improvedAt = performance.now();
  for (;;) {
    const stored = await storedEvents(database, name).catch(() => new Map<string, number>());
    const found = [...uuids].filter((uuid) => stored.has(uuid)).length;
    if (found === uuids.size) return stored;
    if (found > best) {
      best = found;
      improvedAt = performance.now();
    }
    if (performance.now() - improvedAt > patienceMs) return stored;
    await sleep(lookEveryMs);
  }
}
