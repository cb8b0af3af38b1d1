// A fast check before parsing. With each level of nested calls, the parser takes about five times longer. This check
// rejects deep nesting in time proportional to the length of the text.

import { SqlProblem } from './problem.ts';

const maxCharacters = 65_536;
const maxNestedCalls = 6;
const maxNestedParentheses = 12;
const maxNestedSelects = 16;
const maxTokens = 3_000;

type Bracket = 'call' | 'group' | 'select' | 'other';
const token =
  /'(?:[^'\\]|\\[\s\S]|'')*'|"(?:[^"\\]|\\[\s\S])*"|`(?:[^`\\]|\\[\s\S])*`|--[^\n]*|\/\*[\s\S]*?\*\/|[\p{L}_$][\p{L}\p{N}_$]*|\d[\w.]*|\s+|[\s\S]/gu;

/** Words that may be followed by a parenthesis although they are not functions. */
const keywords = new Set([
  'in',
  'and',
  'or',
  'not',
  'on',
  'as',
  'from',
  'join',
  'where',
  'having',
  'by',
  'when',
  'then',
  'else',
  'case',
  'select',
  'distinct',
  'using',
  'over',
  'all',
  'union',
  'except',
  'intersect',
  'between',
  'like',
  'ilike',
  'is',
  'values',
  'limit',
  'offset',
  'interval',
  'with',
]);

/** Checks a text. @throws SqlProblem if it is too long or nested too deeply */
export function scan(text: string): void {
  if (text.length > maxCharacters)
    throw new SqlProblem(`A query can have at most ${maxCharacters} characters.`, { start: 0, end: maxCharacters });
  const open: Bracket[] = [];
  const count = (kind: Bracket) => open.filter((one) => one === kind).length;
  let [before, offset, tokens] = ['', 0, 0];
  for (const [found] of text.matchAll(token)) {
    const start = offset;
    offset += Array.from(found).length;
    if (/^(\s|--|\/\*)/.test(found)) continue;
    tokens += 1;
    const place = { start, end: offset };
    if (tokens > maxTokens)
      throw new SqlProblem(`A query can have at most ${maxTokens} words, numbers and operators.`, place);
    if (found === '(' || found === '[' || found === '{') {
      const isCall = /^[\p{L}_$]/u.test(before) && !keywords.has(before.toLowerCase());
      open.push(found !== '(' ? 'other' : isCall ? 'call' : 'group');
    } else if (/^(select|with)$/i.test(found) && before === '(') {
      open[open.length - 1] = 'select';
    } else if (found === ')' || found === ']' || found === '}') open.pop();
    if (count('call') > maxNestedCalls)
      throw new SqlProblem(
        `Function calls can be nested at most ${maxNestedCalls} levels deep. Use multiIf or a subquery instead of nested calls.`,
        place,
      );
    if (count('group') + count('other') > maxNestedParentheses)
      throw new SqlProblem(`Parentheses can be nested at most ${maxNestedParentheses} levels deep.`, place);
    if (count('select') > maxNestedSelects)
      throw new SqlProblem(`Subqueries can be nested at most ${maxNestedSelects} levels deep.`, place);
    before = found;
  }
}
