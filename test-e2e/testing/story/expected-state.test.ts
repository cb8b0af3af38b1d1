import { computeExpectedState } from './expected-state.ts';
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

test('identify, alias and merge connect IDs to persons, and all other IDs remain separate', () => {
  const { persons } = computeExpectedState([
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

test('applies $set, $set_once and $unset in order, with event-level values taking precedence', () => {
  const { persons } = computeExpectedState([
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

test('counts an event that is sent twice only once, at its first position', () => {
  const first = event('a', 'x', { $set: { k: 1 } });
  const { events, persons } = computeExpectedState([[first, event('a', 'x', { $set: { k: 2 } }), first]]);
  expect(events.size).toBe(2);
  expect(persons[0]?.properties).toEqual({ k: 2 });
});

test('$groupidentify and $group_identify both set group properties, and the last value wins', () => {
  const set = (name: string, value: number) =>
    event('a', name, { $group_type: 'company', $group_key: 'acme', $group_set: { seats: value, [name]: true } });
  expect(computeExpectedState([[set('$groupidentify', 1), set('$group_identify', 2)]]).groups).toEqual([
    { type: 'company', key: 'acme', properties: { seats: 2, $groupidentify: true, $group_identify: true } },
  ]);
});

test('the creation time of merged IDs is null if their first event is missing', () => {
  const merged = [event('second', 'x'), event('second', '$identify', { $anon_distinct_id: 'visitor' })];
  expect(computeExpectedState([merged]).persons).toMatchObject([{ createdAt: null }]);
  expect(computeExpectedState([[event('user', 'signed up'), ...merged.slice(0, 1)]]).persons).toMatchObject([
    { createdAt: expect.any(String) },
    { createdAt: expect.any(String) },
  ]);
});

test('creates no person for an ID with only anonymous events', () => {
  expect(computeExpectedState([[event('a', 'x', { $process_person_profile: false })]]).persons).toEqual([]);
});
