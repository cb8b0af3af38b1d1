import { ageOf, type FlagState } from './flag-load.ts';

const states: FlagState[] = [
  { version: 1, isActive: true, sentAt: 0, answeredAt: 10 },
  { version: 2, isActive: false, sentAt: 1000, answeredAt: 1020 },
  { version: 3, isActive: true, sentAt: 2000, answeredAt: 2020 },
  { version: 4, isActive: false, sentAt: 5000, answeredAt: 5030 },
];

test.each<[string, number, number | null, number]>([
  ['true', 500, 1, 0],
  ['changed while it was asked', 1010, 1, 0],
  ['changed before the change was answered', 1010, null, 0],
  ['still the state before', 1520, 1, 500],
  ['two states before', 3020, 1, 2000],
  ['still off', 2320, null, 300],
  ['off, for the second time', 5040, null, 0],
  ['never was', 500, 7, Number.POSITIVE_INFINITY],
  ['not off yet', 500, null, Number.POSITIVE_INFINITY],
])('%s', (_name, askedAt, version, expected) => {
  expect(ageOf({ askedAt, answeredAt: askedAt + 5, version }, states)).toBe(expected);
});
