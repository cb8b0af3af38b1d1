import { computeExpectedState, groupBy } from './expected-state.ts';
import { writeStory } from './write-story.ts';

const options = { events: 5000, people: 125, clients: 4, seed: 7 };
const streams = writeStory(options);
const sent = streams.flat();

test('a story has the requested size, and repeats one in a hundred events', () => {
  expect(new Set(sent.map(({ uuid }) => uuid)).size).toBe(options.events);
  expect(sent).toHaveLength(options.events + options.events / 100);
});

test('a story merges several IDs into each person, and keeps strangers separate', () => {
  const { persons: everyone } = computeExpectedState(streams);
  const persons = everyone.filter(({ distinctIds }) => !distinctIds[0]?.startsWith('stranger-'));
  const strangers = everyone.filter((person) => !persons.includes(person));
  expect(strangers.length).toBeGreaterThan(0);
  expect(strangers.every(({ distinctIds, isIdentified }) => distinctIds.length === 1 && !isIdentified)).toBe(true);
  expect(persons).toHaveLength(options.people);
  const idCount = persons.reduce((sum, { distinctIds }) => sum + distinctIds.length, 0);
  expect(idCount).toBeGreaterThan(options.people * 3);
  expect(persons.every(({ isIdentified }) => isIdentified)).toBe(true);
});

test('a story assigns each ID to one client, so that its events are processed in order', () => {
  const owner = new Map<string, number>();
  streams.forEach((stream, client) => {
    for (const { distinct_id } of stream) {
      expect(owner.get(distinct_id) ?? client).toBe(client);
      owner.set(distinct_id, client);
    }
  });
});

test('a story has the same final state for every interleaving of the IDs', () => {
  const byId = [...groupBy(sent, ({ distinct_id }) => distinct_id).values()];
  const state = computeExpectedState(streams);
  const other = computeExpectedState(byId.reverse());
  expect(other.persons).toEqual(state.persons);
  expect(other.groups.map(({ properties }) => properties)).toEqual(state.groups.map(({ properties }) => properties));
});

test("in a story, a user ID's first event has the earliest timestamp", () => {
  const { persons } = computeExpectedState(streams);
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

test('a story includes every type of event', () => {
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
