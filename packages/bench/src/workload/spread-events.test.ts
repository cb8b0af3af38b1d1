import { generateEventsForProjects } from '../harness/bench-topics.ts';
import { generateMixedEvents } from './mixed-events.ts';

const facts = (events: Iterable<{ token: string; uuid: string; distinct_id: string; event: string }>) =>
  [...events].map(({ token, uuid, distinct_id, event }) => [token, uuid, distinct_id, event]);

test('generates the same events for a single project as generateMixedEvents', () => {
  expect(facts(generateEventsForProjects(300, ['phc_a']))).toEqual(facts(generateMixedEvents(300, 'phc_a')));
});

test('gives every project an equal share of events, with separate UUIDs and persons', () => {
  const events = [...generateEventsForProjects(1000, ['phc_a', 'phc_b', 'phc_c'])];
  expect(events).toHaveLength(1000);
  expect(new Set(events.map(({ uuid }) => uuid)).size).toBe(1000);
  const count = (key: string) => events.filter(({ token }) => token === key).length;
  expect(['phc_a', 'phc_b', 'phc_c'].map(count)).toEqual([334, 333, 333]);
  const projectsOfPerson = new Map<string, Set<string>>();
  for (const { distinct_id, token } of events) {
    projectsOfPerson.set(distinct_id, (projectsOfPerson.get(distinct_id) ?? new Set()).add(token));
  }
  expect([...projectsOfPerson.values()].every(({ size }) => size === 1)).toBe(true);
});

test('generates events even if there are more projects than events', () => {
  expect(facts(generateEventsForProjects(2, ['phc_a', 'phc_b', 'phc_c'])).map(([token]) => token)).toEqual([
    'phc_a',
    'phc_b',
  ]);
});
