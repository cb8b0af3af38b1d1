import { patternTests } from './regex-test.ts';
import { sharedPattern } from './shared-pattern.ts';

test('F-90: of a text that would take too long nothing is said', () => {
  const tests = patternTests('(a|b|c){500}$');
  const long = 'x'.repeat(10_000);
  expect([tests.isFound(long, 0), tests.isNotFound(long, 0)]).toEqual([false, false]);
  expect(tests.isNotFound('x', 0)).toBe(true);
});

test('equal patterns are one, and what is invalid finds nothing and misses nothing', () => {
  expect(sharedPattern('^a+$')).toBe(sharedPattern('^a+$'));
  expect(sharedPattern('^a+$').compiled()).toBe(sharedPattern('^a+$').compiled());
  const invalid = patternTests('(?=a)');
  expect([invalid.isFound('a', 0), invalid.isNotFound('a', 0)]).toEqual([false, false]);
});
