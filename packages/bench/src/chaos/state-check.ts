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
  const examples: string[] = [];
  const note = (text: string) => examples.length < 10 && examples.push(text);

  const counts = new Map<string, number>();
  let wrong = 0;
  for (const event of stored.events) {
    counts.set(event.uuid, (counts.get(event.uuid) ?? 0) + 1);
    const was = expected.events.get(event.uuid);
    const isRight =
      was !== undefined &&
      // An exact synonym, stored under the one name.
      event.event === (was.event === '$group_identify' ? '$groupidentify' : was.event) &&
      event.distinct_id === was.distinct_id &&
      event.timestamp === was.timestamp &&
      event.n === (was.properties.n ?? null) &&
      event.company === ((was.properties.$groups as { company: string } | undefined)?.company ?? null);
    if (!isRight) {
      wrong += 1;
      note(`event ${event.uuid} (${event.event})`);
    }
  }
  const lost = [...expected.events.keys()].filter((uuid) => !counts.has(uuid));
  for (const uuid of lost.slice(0, 3)) note(`lost event ${uuid}`);

  const storedPersons = new Map(stored.persons.map((person) => [String(person.distinctIds?.[0]), person]));
  for (const person of expected.persons) {
    const name = String(person.distinctIds[0]);
    const found = storedPersons.get(name);
    storedPersons.delete(name);
    if (found === undefined) {
      wrong += 1;
      note(`no person for ${name}`);
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
    if (differences.length > 0) {
      wrong += 1;
      note(`person of ${name}: ${differences.join(', ')}`);
    }
  }
  for (const name of storedPersons.keys()) {
    wrong += 1;
    note(`a person too many: ${name}`);
  }

  const nameOf = ({ type, key }: { type: string; key: string }) => `${type} ${key}`;
  const storedGroups = new Map(stored.groups.map((group) => [nameOf(group), group]));
  for (const group of expected.groups) {
    if (!isDeepStrictEqual(storedGroups.get(nameOf(group)), group)) {
      wrong += 1;
      note(`group ${nameOf(group)}`);
    }
    storedGroups.delete(nameOf(group));
  }
  wrong += storedGroups.size;
  for (const name of storedGroups.keys()) note(`a group too many: ${name}`);

  return {
    ...{ expected: expected.events.size, stored: counts.size, lost: lost.length, wrong, examples },
    doubled: [...counts.values()].filter((count) => count > 1).length,
  };
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
