import { sampleOf } from '@millrace/testing/seeded-random';

const cases = Array.from({ length: 35 }, (_, at) => at);
const isAtLength = process.env.MILLRACE_TESTS_AT_LENGTH;
afterEach(() => {
  process.env.MILLRACE_TESTS_AT_LENGTH = isAtLength;
});

it.each([1, 4, 34])('consecutive runs with samples of %i cases together cover every case', (count) => {
  process.env.MILLRACE_TESTS_AT_LENGTH = 'false';
  const turns = Array.from({ length: Math.ceil(35 / count) }, (_, turn) => sampleOf(cases, { count, turn }));
  expect(new Set(turns.map(({ length }) => length))).toEqual(new Set([count]));
  expect(new Set(turns.flat()).size).toBe(35);
});

it('a sample is spread evenly over the list', () => {
  process.env.MILLRACE_TESTS_AT_LENGTH = 'false';
  expect(sampleOf(cases, { count: 4, turn: 1 })).toEqual([1, 10, 19, 28]);
});

it('the long tests run all cases and not only a sample', () => {
  process.env.MILLRACE_TESTS_AT_LENGTH = 'true';
  expect(sampleOf(cases, { count: 4, turn: 1 })).toEqual(cases);
});
