import { createKnownIds } from './known-ids.ts';

test('knows what it was told, and forgets the oldest when it is full', () => {
  const known = createKnownIds(4);
  known.note(['1:a', '1:b']);
  expect([known.has('1:a'), known.has('2:a')]).toEqual([true, false]);
  known.note(['1:c', '1:d']);
  expect(['1:a', '1:b', '1:c', '1:d'].map(known.has)).toEqual([false, false, true, true]);
});
