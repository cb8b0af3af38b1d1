import { eventMix, generateMixedEvents } from './mixed-events.ts';

const count = 20_000;
const events = [...generateMixedEvents(count, 'phc_bench')];
const shareOf = (predicate: (event: (typeof events)[number]) => boolean) => events.filter(predicate).length / count;

test('generates events in the specified proportions', () => {
  const seen = new Set<string>();
  const newVisitors = shareOf(({ event, distinct_id }) => {
    const isNew = !seen.has(distinct_id) && event !== '$identify';
    seen.add(distinct_id);
    return isNew;
  });
  expect(newVisitors).toBeCloseTo(eventMix.newPersonShare, 1.7);
  expect(shareOf(({ event }) => event === '$identify')).toBeCloseTo(eventMix.identifyShare, 1.7);
  expect(shareOf(({ event }) => event === '$groupidentify')).toBeCloseTo(eventMix.groupIdentifyShare, 1.7);
});

test('generates properties of about 1 KB', () => {
  const mean = events.reduce((sum, { properties }) => sum + JSON.stringify(properties).length, 0) / count;
  expect(mean).toBeGreaterThan(950);
  expect(mean).toBeLessThan(1150);
});

test('generates unique UUIDs, and the same events for the same seed', () => {
  expect(new Set(events.map(({ uuid }) => uuid)).size).toBe(count);
  const again = [...generateMixedEvents(count, 'phc_bench')];
  expect(again.map(({ event, distinct_id, uuid }) => [event, distinct_id, uuid])).toEqual(
    events.map(({ event, distinct_id, uuid }) => [event, distinct_id, uuid]),
  );
});

test('identifies only visitors who were seen before, and merges each visitor once', () => {
  const seen = new Set<string>();
  const merged = new Set<unknown>();
  for (const { event, distinct_id, properties } of events) {
    if (event === '$identify') {
      const visitor = properties.$anon_distinct_id;
      expect(seen.has(visitor as string)).toBe(true);
      expect(merged.has(visitor)).toBe(false);
      merged.add(visitor);
    }
    seen.add(distinct_id);
  }
});
