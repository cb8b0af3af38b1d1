import { cutToCodePoints, isLongerThan } from './code-points.ts';

test.each([
  ['', 0, false],
  ['abc', 3, false],
  ['abcd', 3, true],
  ['🦊🦊🦊', 3, false],
  ['🦊🦊🦊a', 3, true],
  ['a'.repeat(7), 3, true],
])('determines whether %j is longer than %i code points: %s', (text, limit, expected) => {
  expect(isLongerThan(text, limit)).toBe(expected);
});

test.each([
  ['abc', 3, 'abc'],
  ['abcd', 3, 'abc'],
  ['🦊🦊🦊🦊', 3, '🦊🦊🦊'],
  ['ab🦊cd', 3, 'ab🦊'],
  ['a'.repeat(1000), 3, 'aaa'],
])('cuts %j to %i code points', (text, limit, expected) => {
  expect(cutToCodePoints(text, limit)).toBe(expected);
});
