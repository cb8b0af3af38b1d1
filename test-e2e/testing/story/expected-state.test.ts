import { expectedState } from './expected-state.ts';
import type { StoryEvent } from './write-story.ts';

let sent = 0;
function event(distinctId: string, name: string, properties: Record<string, unknown> = {}, extra = {}): StoryEvent {
  sent++;
  return {
    uuid: `00000000-0000-4000-8000-${String(sent).padStart(12, '0')}`,
    event: name,
    distinct_id: distinctId,
    timestamp: new Date(1_700_000_000_000 + sent).toISOString(),
    properties,
    ...extra,
  };
}

test('identify, alias and merge connect IDs to persons, and other IDs stay separate', () => {
  const { persons } = expectedState([
    [
      event('anon', 'x'),
      event('user', '$identify', { $anon_distinct_id: 'anon' }),
      event('user', '$create_alias', { alias: 'main' }),
      event('alone', '$identify', { $set: { a: 1 } }),
    ],
  ]);
  expect(
    persons.map(({ distinctIds, isIdentified, mainDistinctId }) => [distinctIds, isIdentified, mainDistinctId]),
  ).toEqual([
    [['alone'], false, 'alone'],
    [['anon', 'main', 'user'], true, 'main'],
  ]);
});

test('$set overwrites, $set_once only fills, $unset removes, event-level values win, and anonymous and group events change nothing', () => {
  const { persons } = expectedState([
    [
      event('a', 'x', { $set: { k: 1, gone: 1 }, $set_once: { first: 1 } }),
      event('a', 'x', { $set: { k: 2 } }, { $set: { k: 3 }, $set_once: { first: 2 } }),
      event('a', 'x', { $unset: ['gone'] }),
      event('a', 'x', { $process_person_profile: false, $set: { ghost: 1 } }),
      event('a', '$groupidentify', { $group_type: 't', $group_key: 'g', $group_set: {}, $set: { ghost: 1 } }),
    ],
  ]);
  expect(persons).toMatchObject([{ properties: { k: 3, first: 1 } }]);
  expect(persons[0]?.properties).not.toHaveProperty('ghost');
  expect(persons[0]?.properties).not.toHaveProperty('gone');
});

test('an event that is sent twice counts once, at its first position', () => {
  const first = event('a', 'x', { $set: { k: 1 } });
  const { events, persons } = expectedState([[first, event('a', 'x', { $set: { k: 2 } }), first]]);
  expect(events.size).toBe(2);
  expect(persons[0]?.properties).toEqual({ k: 2 });
});

test('$groupidentify and $group_identify both set properties of a group, and the last value wins', () => {
  const set = (name: string, value: number) =>
    event('a', name, { $group_type: 'company', $group_key: 'acme', $group_set: { seats: value, [name]: true } });
  expect(expectedState([[set('$groupidentify', 1), set('$group_identify', 2)]]).groups).toEqual([
    { type: 'company', key: 'acme', properties: { seats: 2, $groupidentify: true, $group_identify: true } },
  ]);
});

test('the creation time of merged IDs is unknown if their first event is not in the story', () => {
  const merged = [event('second', 'x'), event('second', '$identify', { $anon_distinct_id: 'visitor' })];
  expect(expectedState([merged]).persons).toMatchObject([{ createdAt: null }]);
  expect(expectedState([[event('user', 'signed up'), ...merged.slice(0, 1)]]).persons).toMatchObject([
    { createdAt: expect.any(String) },
    { createdAt: expect.any(String) },
  ]);
});

test('an ID with only anonymous events has no person', () => {
  expect(expectedState([[event('a', 'x', { $process_person_profile: false })]]).persons).toEqual([]);
});
