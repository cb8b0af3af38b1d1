// Computes from the acknowledged events which rows must be stored, and compares them with the database.

import { isDeepStrictEqual } from 'node:util';
import { expectedState, type StoryEvent, storedState } from '@millrace/testing';
import type { Pool } from 'pg';

export interface StateCheck {
  /** Number of distinct acknowledged events. */
  expected: number;
  stored: number;
  lost: number;
  duplicated: number;
  /** Number of events, groups and persons (including their distinct IDs) that are incorrect or should not exist. */
  wrong: number;
  /** Examples of differences. They contain only generated values. */
  examples: string[];
}

/**
 * Computes the expected state from the events, in a different way than the consumer, and compares it with the stored
 * state.
 */
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
    expected: expected.events.size,
    stored: counts.size,
    lost: lost.length,
    wrong: wrong.length,
    duplicated: [...counts.values()].filter((count) => count > 1).length,
    examples: [...lost.slice(0, 3).map((uuid) => `lost event ${uuid}`), ...wrong].slice(0, 10),
  };
}

type Expected = ReturnType<typeof expectedState>;
type Stored = Awaited<ReturnType<typeof storedState>>;

function wrongEvents(expected: Expected, stored: Stored): string[] {
  const wrong = stored.events.filter((event) => {
    const was = expected.events.get(event.uuid);
    // `$group_identify` is a synonym of `$groupidentify`, under which the event is stored.
    const name = was?.event === '$group_identify' ? '$groupidentify' : was?.event;
    const groups = was?.properties.$groups as { company: string } | undefined;
    return (
      event.event !== name ||
      event.distinct_id !== was?.distinct_id ||
      event.timestamp !== was.timestamp ||
      event.n !== (was.properties.n ?? null) ||
      event.company !== (groups?.company ?? null)
    );
  });
  return wrong.map(({ uuid, event }) => `event ${uuid} (${event})`);
}

function wrongPersons(expected: Expected, stored: Stored): string[] {
  const left = new Map(stored.persons.map((person) => [String(person.distinctIds?.[0]), person]));
  const wrong = expected.persons.flatMap((person) => {
    const name = String(person.distinctIds[0]);
    const found = left.get(name);
    left.delete(name);
    if (found === undefined) return [`no person for ${name}`];
    const { creatorEventUuid, ...rest } = found;
    // The main distinct ID and the creation time can depend on the order in which partitions are processed, so any of
    // the person's distinct IDs and creation times is correct.
    const mainDistinctId = person.mainDistinctId ?? rest.mainDistinctId;
    const createdAt = person.createdAt ?? rest.createdAt;
    const isRight =
      isDeepStrictEqual(rest, { ...person, mainDistinctId, createdAt }) &&
      rest.distinctIds.includes(rest.mainDistinctId) &&
      expected.events.has(creatorEventUuid);
    return isRight ? [] : [`person ${JSON.stringify(found)} is not ${JSON.stringify(person)}`];
  });
  return [...wrong, ...[...left.keys()].map((name) => `unexpected person: ${name}`)];
}

function wrongGroups(expected: Expected, stored: Stored): string[] {
  const nameOf = ({ type, key }: { type: string; key: string }) => `${type} ${key}`;
  const left = new Map(stored.groups.map((group) => [nameOf(group), group]));
  const wrong = expected.groups.filter((group) => {
    const found = left.get(nameOf(group));
    left.delete(nameOf(group));
    return !isDeepStrictEqual(found, group);
  });
  return [
    ...wrong.map((group) => `group ${nameOf(group)}`),
    ...[...left.keys()].map((name) => `unexpected group: ${name}`),
  ];
}
