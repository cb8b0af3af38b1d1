import { createKnownIds } from './touched.ts';

const ids = Array.from({ length: 10_000 }, (_, index) => `${index % 7}:user-${index}`);

test('the cache of known IDs contains exactly the IDs that were added', () => {
  const known = createKnownIds();
  expect(known.has('1:a')).toBe(false);
  known.note(['1:a', '1:b', '1:a']);
  expect(['1:a', '1:b', '2:a', '1:c', '1:', ''].map(known.has)).toEqual([true, true, false, false, false, false]);
});

test('the cache of known IDs distributes IDs over its slots as evenly as a random function', () => {
  const known = createKnownIds(1 << 14);
  known.note(ids);
  // If n IDs are distributed over m slots, m(1 - e^(-n/m)) are expected to remain: 7,484 of 10,000 in 16,384 slots.
  const remaining = ids.filter(known.has).length;
  expect(remaining).toBeGreaterThan(7300);
  expect(remaining).toBeLessThan(7700);
});

test('the cache of known IDs forgets the older of two IDs in the same slot', () => {
  const known = createKnownIds(1);
  known.note(['1:a', '1:b']);
  expect([known.has('1:a'), known.has('1:b')]).toEqual([false, true]);
  known.note(['1:a']);
  expect([known.has('1:a'), known.has('1:b')]).toEqual([true, false]);
});
