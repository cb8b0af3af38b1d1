import { expectedState, groupBy } from './expected-state.ts';
import { writeStory } from './write-story.ts';

const options = { events: 5000, people: 125, clients: 4, seed: 7 };
const streams = writeStory(options);
const sent = streams.flat();

test('a story has the requested size, and one in a hundred events is sent twice', () => {
  expect(new Set(sent.map(({ uuid }) => uuid)).size).toBe(options.events);
  expect(sent).toHaveLength(options.events + options.events / 100);
});

test('each person has several IDs that end up merged, and strangers stay separate', () => {
  const { persons: everyone } = expectedState(streams);
  const persons = everyone.filter(({ distinctIds }) => !distinctIds[0]?.startsWith('stranger-'));
  const strangers = everyone.filter((person) => !persons.includes(person));
  expect(strangers.length).toBeGreaterThan(0);
  expect(strangers.every(({ distinctIds, isIdentified }) => distinctIds.length === 1 && !isIdentified)).toBe(true);
  expect(persons).toHaveLength(options.people);
  const idCount = persons.reduce((sum, { distinctIds }) => sum + distinctIds.length, 0);
  expect(idCount).toBeGreaterThan(options.people * 3);
  expect(persons.every(({ isIdentified }) => isIdentified)).toBe(true);
});

test('an ID belongs to one client, so its events are processed in the order in which they were sent', () => {
  const owner = new Map<string, number>();
  streams.forEach((stream, client) => {
    for (const { distinct_id } of stream) {
      expect(owner.get(distinct_id) ?? client).toBe(client);
      owner.set(distinct_id, client);
    }
  });
});

test('the final state is the same for every interleaving of the IDs', () => {
  const byId = [...groupBy(sent, ({ distinct_id }) => distinct_id).values()];
  const state = expectedState(streams);
  const other = expectedState(byId.reverse());
  expect(other.persons).toEqual(state.persons);
  expect(other.groups.map(({ properties }) => properties)).toEqual(state.groups.map(({ properties }) => properties));
});

test('a user ID begins with its first event, which has the earliest timestamp of the person', () => {
  const { persons } = expectedState(streams);
  const firstOf = new Map<string, string>();
  for (const { distinct_id, event } of sent) if (!firstOf.has(distinct_id)) firstOf.set(distinct_id, event);
  const openings = new Set(sent.filter(({ event }) => event === 'signed up').map(({ timestamp }) => timestamp));
  for (const { distinctIds, createdAt } of persons) {
    const user = distinctIds.find((id) => id.startsWith('user-'));
    if (user === undefined) continue;
    expect(firstOf.get(user)).toBe('signed up');
    expect(openings.has(String(createdAt))).toBe(true);
  }
});

test('every kind of event occurs', () => {
  expect(new Set(sent.map(({ event }) => event))).toEqual(
    new Set([
      '$create_alias',
      '$group_identify',
      '$groupidentify',
      '$identify',
      '$merge_dangerously',
      '$pageview',
      '$set',
      'button pressed',
      'ghost',
      'invoice opened',
      'mood lost',
      'order placed',
      'signed up',
    ]),
  );
});
