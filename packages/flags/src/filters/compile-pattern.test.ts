import { patternProblem } from './compile-pattern.ts';

test.each([
  ['(a{1000}){1000}', /repeat/],
  ['x{1000}'.repeat(140), /repeats too much/],
  [`(?:${'ab'.repeat(40)}){1000}`, /repeats too much/],
  ['('.repeat(10), /missing/],
])('%.20s is refused before it costs anything', (pattern, problem) => {
  expect(patternProblem(pattern)).toMatch(problem);
});

test.each([
  '^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$',
  '(\\d{1,3}\\.){3}\\d{1,3}',
  '.{0,255}@acme',
])('%s is as good as any', (pattern) => {
  expect(patternProblem(pattern)).toBeNull();
});
