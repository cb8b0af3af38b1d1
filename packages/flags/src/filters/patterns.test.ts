import { findPatternProblem, getSharedPattern, validatePatterns } from './patterns.ts';
import { createPatternTests } from './text-operators.ts';
import { PropertyValue } from './value-operators.ts';

test.each([
  ['(a{1000}){1000}', /repetitions/],
  ['x{1000}'.repeat(140), /too many repetitions/],
  [`(?:${'ab'.repeat(40)}){1000}`, /too many repetitions/],
  ['('.repeat(10), /missing/],
])('rejects the pattern %.20s without compiling it', (pattern, problem) => {
  expect(findPatternProblem(pattern)).toMatch(problem);
});

test.each([
  '^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$',
  '(\\d{1,3}\\.){3}\\d{1,3}',
  '.{0,255}@acme',
])('accepts the pattern %s', (pattern) => {
  expect(findPatternProblem(pattern)).toBeNull();
});

test('flag-090: a string that takes too long to search matches neither `regex` nor `not_regex`', () => {
  const tests = createPatternTests('(a|b|c){500}$');
  const long = 'x'.repeat(10_000);
  expect([
    tests.isFound.matches(new PropertyValue(long), 0),
    tests.isNotFound.matches(new PropertyValue(long), 0),
  ]).toEqual([false, false]);
  expect(tests.isNotFound.matches(new PropertyValue('x'), 0)).toBe(true);
});

test('filters with equal patterns share one object, and an invalid pattern matches neither `regex` nor `not_regex`', () => {
  expect(getSharedPattern('^a+$')).toBe(getSharedPattern('^a+$'));
  expect(getSharedPattern('^a+$').compiled()).toBe(getSharedPattern('^a+$').compiled());
  const invalid = createPatternTests('(?=a)');
  expect([
    invalid.isFound.matches(new PropertyValue('a'), 0),
    invalid.isNotFound.matches(new PropertyValue('a'), 0),
  ]).toEqual([false, false]);
});

test('validates each pattern in a separate step, and compiles it only once', () => {
  const filter = (operator: string, value: unknown) => ({ key: 'k', type: 'person', operator, value });
  const properties = [filter('regex', '^a+$'), filter('not_regex', '('), filter('regex', '^a+$'), filter('exact', '[')];
  const steps = validatePatterns({ groups: [{ properties }] });
  expect([steps.next().done, steps.next().done]).toEqual([false, false]);
  const { done, value } = steps.next();
  expect(done).toBe(true);
  expect([...(value ?? [])]).toEqual([
    ['^a+$', null],
    ['(', expect.stringContaining('missing')],
  ]);
});
