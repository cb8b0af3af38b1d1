// Splits SQL into tokens, which the editor highlights in different colors. Only the server parses the query completely.

import { HighlightStyle, StreamLanguage, type StringStream, syntaxHighlighting } from '@codemirror/language';
import { tags } from '@lezer/highlight';

export const keywords = (
  'ALL AND ANTI ARRAY AS ASC BETWEEN BY CASE CAST COHORT CROSS DESC DISTINCT ELSE END EXCEPT FALSE FOLLOWING FROM FULL ' +
  'GROUP HAVING ILIKE IN INNER INTERSECT INTERVAL IS JOIN LEFT LIKE LIMIT NOT NULL OFFSET ON OR ORDER OVER PARTITION ' +
  'PRECEDING PREWHERE RANGE RIGHT ROWS SELECT THEN TRUE UNBOUNDED UNION USING WHEN WHERE WINDOW WITH'
).split(' ');

const isKeyword = new Set(keywords);

/** The type of the token that continues on the next line: a comment, a string or a quoted name. */
interface State {
  inside: '' | '*' | "'" | '"' | '`';
}

const ends = { '*': 'comment', "'": 'string', '"': 'propertyName', '`': 'propertyName' } as const;

function skipTo(stream: StringStream, state: State): string {
  const { inside } = state;
  if (inside === '') return '';
  while (!stream.eol()) {
    if (inside === '*') {
      if (stream.match('*/')) {
        state.inside = '';
        return ends[inside];
      }
      stream.next();
      continue;
    }
    const character = stream.next();
    if (character === '\\') stream.next();
    // Inside quotes, two consecutive quotes represent one quote character.
    else if (character === inside && !stream.eat(inside)) {
      state.inside = '';
      return ends[inside];
    }
  }
  return ends[inside];
}

function token(stream: StringStream, state: State): string | null {
  if (state.inside !== '') return skipTo(stream, state);
  if (stream.eatSpace()) return null;
  if (stream.match('--') || stream.match('//')) {
    stream.skipToEnd();
    return 'comment';
  }
  if (stream.match('/*')) {
    state.inside = '*';
    return skipTo(stream, state);
  }
  if (stream.match(/^\{[^}]*\}/)) return 'special';
  if (stream.match(/^(0x[\da-f]+|\d[\d_]*(\.\d+)?(e[+-]?\d+)?)/i)) return 'number';
  const word = stream.match(/^[A-Za-z_$][\w$]*/);
  if (Array.isArray(word)) return kindOfWord(word[0] ?? '', stream);
  const next = stream.next();
  if (next === "'" || next === '"' || next === '`') {
    state.inside = next;
    return skipTo(stream, state);
  }
  return next !== undefined && '()[]'.includes(next) ? 'bracket' : 'operator';
}

/** Returns the type of a word. A word before a parenthesis is a function, unless it is a keyword as in `IN (`. */
function kindOfWord(word: string, stream: StringStream): string {
  if (isKeyword.has(word.toUpperCase())) return 'keyword';
  return stream.match(/^\s*\(/, false) ? 'function' : 'variableName';
}

const sql = StreamLanguage.define<State>({
  name: 'sql',
  startState: () => ({ inside: '' }),
  copyState: ({ inside }) => ({ inside }),
  token,
  tokenTable: { function: tags.function(tags.variableName), special: tags.special(tags.string) },
  languageData: {
    commentTokens: { line: '--', block: { open: '/*', close: '*/' } },
    closeBrackets: { brackets: ['(', '[', '{', "'", '"', '`'] },
  },
});

const colors = HighlightStyle.define([
  { tag: tags.keyword, color: 'var(--accent)', fontWeight: '560' },
  { tag: tags.string, color: 'var(--good)' },
  { tag: tags.number, color: 'var(--warn)' },
  { tag: tags.comment, color: 'var(--ink-2)', fontStyle: 'italic' },
  { tag: tags.function(tags.variableName), color: 'var(--series-3)' },
  { tag: tags.special(tags.string), color: 'var(--series-5)' },
]);

export const sqlLanguage = [sql, syntaxHighlighting(colors)];
