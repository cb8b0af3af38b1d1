// Checks a query before it is parsed, in time proportional to its length. The parser takes about five times longer with
// each level of nested calls, so deeply nested queries are not parsed. Clauses that the parser reads and then leaves
// out of its tree are rejected too.

import { type Place, SqlProblem } from './problem.ts';

const maxCharacters = 65_536;
const maxTokens = 3_000;

interface NestingLimits {
  calls: number;
  parentheses: number;
  selects: number;
}
/** Limits for a query, which is parsed in pieces. Deeper trees could exhaust the call stack. */
const queryLimits: NestingLimits = { calls: 24, parentheses: 24, selects: 16 };
/** Limits for a text that is parsed as a whole. */
const pieceLimits: NestingLimits = { calls: 6, parentheses: 12, selects: 16 };

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

export interface Word {
  text: string;
  place: Place;
}

/** Returns the words, numbers, strings and symbols of a query, without comments. */
export function* wordsOf(text: string): Generator<Word> {
  let offset = 0;
  for (const [found] of text.matchAll(token)) {
    const start = offset;
    offset += Array.from(found).length;
    if (!/^(\s|--|\/\*)/.test(found)) yield { text: found, place: { start, end: offset } };
  }
}

/** Returns the place where a word first occurs outside of strings and comments, or null if it does not occur. */
export function placeOf(word: string, text: string): Place | null {
  for (const one of wordsOf(text)) if (one.text.toLowerCase() === word.toLowerCase()) return one.place;
  return null;
}

/** @throws SqlProblem if a query is too long, is nested too deeply or contains a clause that would be ignored */
export function checkQuery(text: string): void {
  if (text.length > maxCharacters)
    throw new SqlProblem(`A query can have at most ${maxCharacters} characters.`, { start: 0, end: maxCharacters });
  const words = [...wordsOf(text)];
  const extra = words[maxTokens];
  if (extra !== undefined)
    throw new SqlProblem(`A query can have at most ${maxTokens} words, numbers and operators.`, extra.place);
  const nesting = nestingProblem(text, queryLimits);
  if (nesting !== null) throw nesting;
  refuseIgnored(words);
}

/** Returns an error if parsing the text as a whole could take longer than about a second, and null otherwise. */
export function nestingProblem(text: string, limits = pieceLimits): SqlProblem | null {
  const open: Bracket[] = [];
  const count = (kind: Bracket) => open.filter((one) => one === kind).length;
  let before = '';
  for (const { text: found, place } of wordsOf(text)) {
    if (found === '(' || found === '[' || found === '{') {
      const isCall = /^[\p{L}_$]/u.test(before) && !keywords.has(before.toLowerCase());
      open.push(found !== '(' ? 'other' : isCall ? 'call' : 'group');
    } else if (/^(select|with)$/i.test(found) && before === '(') {
      open[open.length - 1] = 'select';
    } else if (found === ')' || found === ']' || found === '}') open.pop();
    before = found;
    if (count('call') > limits.calls)
      return new SqlProblem(
        `Function calls can be nested at most ${limits.calls} levels deep. Use multiIf or a subquery instead of nested calls.`,
        place,
      );
    if (count('group') + count('other') > limits.parentheses)
      return new SqlProblem(`Parentheses can be nested at most ${limits.parentheses} levels deep.`, place);
    if (count('select') > limits.selects)
      return new SqlProblem(`Subqueries can be nested at most ${limits.selects} levels deep.`, place);
  }
  return null;
}

/** Clauses that the parser leaves out of its tree. Some patterns also match the word after the clause. */
const ignored: readonly { clause: RegExp; problem: string }[] = [
  { clause: /^with (rollup|cube|totals) (?!as )/, problem: 'GROUP BY … WITH ROLLUP, CUBE or TOTALS is not supported.' },
  { clause: /^nulls first /, problem: 'NULLS FIRST is not supported. Null comes last in every order.' },
  { clause: /^collate '/, problem: 'COLLATE is not supported. Texts are sorted by code points.' },
  { clause: /^filter \( where /, problem: 'FILTER is not supported. Use the suffix If, such as countIf(condition).' },
  {
    clause: /^(global|natural|lateral) (any |all |asof |left |right |inner |full |cross )*join /,
    problem: 'GLOBAL, NATURAL and LATERAL joins are not supported.',
  },
];

function refuseIgnored(words: readonly Word[]): void {
  for (const [at, { text, place }] of words.entries()) {
    if (!/^(with|nulls|collate|filter|global|natural|lateral)$/i.test(text)) continue;
    if (words[at - 1]?.text.toLowerCase() === 'as') continue;
    const following = words.slice(at, at + 4).map((one) => one.text.toLowerCase());
    const clause = `${following.join(' ')} `;
    const found = ignored.find((one) => one.clause.test(clause));
    if (found !== undefined) throw new SqlProblem(found.problem, place);
  }
}
