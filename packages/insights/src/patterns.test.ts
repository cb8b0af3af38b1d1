import { findPatternProblem } from './patterns.ts';

const unsupported = expect.stringMatching(/^The escape \\. is not supported in regular expressions\.$/);
const nul = 'A regular expression cannot contain null characters.';
const empty = 'Brackets in a regular expression must not be empty.';

describe('findPatternProblem', () => {
  it.each([
    '^a$',
    '(?i)a|b',
    '(?:a){2,3}?',
    '[a-z\\d]+',
    '[^a]',
    '[\\]]',
    '\\bword\\B',
    '\\x41\\t\\n',
    '\\.\\[\\]\\\\',
    '\\\\0',
    'a{255}',
  ])('accepts %j', (pattern) => {
    expect(findPatternProblem(pattern)).toBeNull();
  });

  it.each([
    ['\\0', nul],
    ['\\x00', nul],
    ['[\\x00-a]', nul],
    ['a\\\\\\0', nul],
    ['\\u0041', unsupported],
    ['\\u{41}', unsupported],
    ['\\cA', unsupported],
    ['\\p{L}', unsupported],
    ['\\P{Lu}', unsupported],
    ['\\k', unsupported],
    ['\\Qa\\E', unsupported],
    ['\\z', unsupported],
    ['\\x4', 'The escape \\x4 is not supported in regular expressions.'],
    ['[\\b]', 'The escapes \\b and \\B are not supported inside brackets of a regular expression.'],
    ['[]', empty],
    ['[^]', empty],
    ['[]a]', empty],
    ['a{256}', 'A repetition in a regular expression must not exceed 255.'],
    ['a{2,300}', 'A repetition in a regular expression must not exceed 255.'],
    ['(a{100}){20}', 'Nested repetitions in a regular expression must not exceed 1000 in total.'],
    ['(a)\\1', 'Backreferences are not supported in regular expressions.'],
  ])('rejects %j', (pattern, problem) => {
    expect(findPatternProblem(pattern)).toEqual(problem);
  });
});
