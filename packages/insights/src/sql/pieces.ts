// Cuts a query into pieces that are parsed one by one. The parser takes several milliseconds for each call and for each
// pair of parentheses, and about five times longer with each level of nesting. A name takes almost no time. Therefore, a
// call or a pair of parentheses is replaced by a name of the same length, and its content is parsed separately.

import { type Word, wordsOf } from './scan.ts';

export type Rule = 'parseSelect' | 'parseExpr';

interface Piece {
  text: string;
  rule: Rule;
  /** Offset of the text in the query. */
  start: number;
  /** Number of names that replace groups in the text. */
  groups: number;
}

/** A call or a pair of parentheses. Its contents are stored as the indexes of pieces. */
interface Group {
  call: { name: string; start: number; end: number; isDistinct: boolean } | null;
  content: number[];
  /** Parameters of a function, such as the level in `quantile(0.9)(x)`. */
  params: number[] | null;
}

interface Cut {
  /** The first piece is the query, with names in place of groups. */
  pieces: Piece[];
  /** Groups by the name that replaces them. */
  groups: Map<string, Group>;
}

/** A range of words. The end `to` is exclusive. */
interface Range {
  from: number;
  to: number;
}

/**
 * Words that may precede parentheses but are not functions, and functions whose parentheses do not contain a list of
 * values.
 */
const notFunctions =
  /^(cast|try_cast|columns|rollup|cube|sets|exists|any|all|some|interval|top|in|and|or|on|as|from|join|where|having|by|when|then|else|case|select|distinct|using|over|union|except|intersect|between|like|ilike|is|values|limit|offset|with)$/;
/** Words that may precede an expression, and words that may precede a subquery. */
const beforeExpression =
  /^([(,[{=<>+\-*/%|?!~]|select|distinct|where|prewhere|having|and|or|not|by|on|when|then|else|case|between|like|ilike)$/;
const beforeQuery = /^([(,=<>]|from|join|in)$/;
/** Words that may follow a call that is part of a larger construct, such as OVER after a window function. */
const continues = /^([(.?]|over|filter|within|ignore|respect|union|except|intersect)$/;
/** Operators whose operands the parser joins into one list, even operands in parentheses. */
const joining = /^(and|or|\|)$/;

/** Cuts a query. Returns null if its brackets do not match. */
export function cutQuery(text: string, rule: Rule): Cut | null {
  const characters = Array.from(text);
  const read = readWords(text);
  if (read === null) return null;
  const { words, wordAt, closeOf, isQuery, topLevel } = read;
  const startOf = (at: number) => words[at]?.place.start ?? characters.length;
  const cut: Cut = { pieces: [], groups: new Map() };
  addPiece({ from: 0, to: words.length }, rule, { start: 0, end: characters.length });
  return cut;

  function addPiece(
    { from, to }: Range,
    of: Rule,
    { start, end } = { start: startOf(from), end: startOf(to) },
  ): number {
    const piece: Piece = { text: '', rule: of, start, groups: 0 };
    const index = cut.pieces.push(piece) - 1;
    let offset = start;
    for (let at = from; at < to; at++) {
      const last = canCut(at);
      if (last === null) continue;
      const place = { start: startOf(at), end: words[last]?.place.end ?? end };
      const length = place.end - place.start;
      const name = `$${cut.groups.size.toString(36)}`.padEnd(length, '_');
      if (name.length > length || text.includes(name)) continue;
      const group: Group = { call: null, content: [], params: null };
      cut.groups.set(name, group);
      fillGroup(group, at, place);
      piece.text += characters.slice(offset, place.start).join('') + name;
      piece.groups += 1;
      offset = place.end;
      at = last;
    }
    piece.text += characters.slice(offset, end).join('');
    return index;
  }

  /** Cuts the content of the call or parentheses that begin at the word with the index `at`. */
  function fillGroup(group: Group, at: number, place: { start: number; end: number }): void {
    const open = wordAt(at) === '(' ? at : at + 1;
    const close = closeOf(open) ?? open;
    if (open === at) {
      group.content = [addPiece({ from: open + 1, to: close }, isQuery(open + 1) ? 'parseSelect' : 'parseExpr')];
      return;
    }
    const argsOpen = wordAt(close + 1) === '(' ? close + 1 : open;
    const argsClose = closeOf(argsOpen) ?? argsOpen;
    const isDistinct = wordAt(argsOpen + 1) === 'distinct';
    group.call = { name: words[at]?.text ?? '', ...place, isDistinct };
    group.content = addList({ from: argsOpen + (isDistinct ? 2 : 1), to: argsClose });
    if (argsOpen !== open) group.params = addList({ from: open + 1, to: close });
  }

  function addList({ from, to }: Range): number[] {
    if (from === to) return [];
    const commas = [...topLevel({ from, to })].filter((at) => wordAt(at) === ',');
    const starts = [from, ...commas.map((at) => at + 1)];
    return starts.map((start, at) => addPiece({ from: start, to: commas[at] ?? to }, 'parseExpr'));
  }

  /**
   * If the call or parentheses that begin at the word with the index `at` can be cut, returns the index of their last
   * word. Otherwise, returns null.
   */
  function canCut(at: number): number | null {
    const isCall = /^[a-z_]\w*$/.test(wordAt(at)) && !notFunctions.test(wordAt(at));
    const open = isCall ? at + 1 : at;
    let close = wordAt(open) === '(' ? closeOf(open) : undefined;
    if (close === undefined) return null;
    const argsOpen = isCall && wordAt(close + 1) === '(' ? close + 1 : open;
    close = closeOf(argsOpen) ?? close;
    const [before, after] = [wordAt(at - 1), wordAt(close + 1)];
    if (continues.test(after) || (after === '-' && wordAt(close + 2) === '>')) return null;
    if (isQuery(open + 1)) return !isCall && beforeQuery.test(before) ? close : null;
    if (isQuery(argsOpen + 1) || !(at === 0 || beforeExpression.test(before))) return null;
    const isJoined = joining.test(before) || joining.test(after);
    if (isCall) {
      if (wordAt(at) === 'concat' && isJoined) return null;
      return wordAt(argsOpen + 1) === 'distinct' && /^[(),.]$/.test(wordAt(argsOpen + 2)) ? null : close;
    }
    const content = [...topLevel({ from: open + 1, to: close })].map(wordAt);
    const isValue = content.length > 1 && !content.some((word) => word === ',' || (isJoined && joining.test(word)));
    return isValue ? close : null;
  }
}

/** Returns functions for reading a text word by word. Returns null if its brackets do not match. */
function readWords(text: string) {
  const words = [...wordsOf(text)];
  const closing = closingBrackets(words);
  if (closing === null) return null;
  const wordAt = (at: number) => words[at]?.text.toLowerCase() ?? '';
  return {
    words,
    wordAt,
    /** Returns the index of the closing bracket for the opening bracket at index `open`. */
    closeOf: (open: number) => closing.get(open),
    isQuery: (at: number) => /^(select|with)$/.test(wordAt(at)),
    /** Returns the indexes of words that are not within brackets. */
    *topLevel({ from, to }: Range): Generator<number> {
      for (let at = from; at < to; at = (closing.get(at) ?? at) + 1) yield at;
    },
  };
}

const brackets: ReadonlyMap<string, string> = new Map([
  [')', '('],
  [']', '['],
  ['}', '{'],
]);

/** Returns the index of the closing bracket for each opening bracket, or null if brackets do not match. */
function closingBrackets(words: readonly Word[]): ReadonlyMap<number, number> | null {
  const closing = new Map<number, number>();
  const open: number[] = [];
  for (const [at, { text }] of words.entries()) {
    if (text === '(' || text === '[' || text === '{') open.push(at);
    const opening = brackets.get(text);
    if (opening === undefined) continue;
    const start = open.pop();
    if (start === undefined || words[start]?.text !== opening) return null;
    closing.set(start, at);
  }
  return open.length === 0 ? closing : null;
}

type Json = Record<string, unknown>;

/** The parser's result for an invalid text. */
export interface ParserError {
  error: true;
  type: string;
  message: string;
  start?: { offset: number };
}

/**
 * Joins the syntax trees of the pieces into the tree of the query.
 * @param trees the parser's JSON for each piece
 * @returns null if a piece cannot be parsed
 */
export function joinTrees({ pieces, groups }: Cut, trees: readonly string[]): Json | null {
  const roots = trees.map((tree) => JSON.parse(tree) as Json);
  if (roots.some((root) => 'error' in root)) return null;
  let isComplete = true;
  const joined = treeOf(0);
  return isComplete ? joined : null;

  /** Returns the tree of a piece, with positions in the query, and with groups in place of their names. */
  function treeOf(index: number): Json {
    const { start = 0, groups: expected } = pieces[index] ?? {};
    let found = 0;
    const place = (value: unknown): unknown => {
      if (Array.isArray(value)) return value.map(place);
      if (typeof value !== 'object' || value === null) return value;
      const node = value as Json;
      const group = node.node === 'Field' && groups.get(String(node.chain));
      if (group) {
        found += 1;
        return groupTree(group);
      }
      if (typeof node.offset === 'number' && node.node === undefined) return { offset: node.offset + start };
      return Object.fromEntries(Object.entries(node).map(([key, child]) => [key, place(child)]));
    };
    const tree = place(roots[index]) as Json;
    isComplete &&= found === expected;
    return tree;
  }

  function groupTree({ call, content, params }: Group): Json {
    const parts = content.map(treeOf);
    if (call === null) return parts[0] ?? {};
    const { name, start, end, isDistinct } = call;
    return {
      ...{ node: 'Call', name, args: parts, params: params?.map(treeOf), distinct: isDistinct },
      ...{ start: { offset: start }, end: { offset: end } },
    };
  }
}

/** Returns the error of the first piece that cannot be parsed, with its position in the query. */
export function findPieceError({ pieces, groups }: Cut, trees: readonly string[]): ParserError | null {
  for (const [index, tree] of trees.entries()) {
    const root = JSON.parse(tree) as ParserError | Json;
    if (!('error' in root)) continue;
    const error = root as ParserError;
    const message = [...groups.keys()].reduce((text, name) => text.replaceAll(name, '…'), error.message);
    return { ...error, message, start: { offset: (error.start?.offset ?? 0) + (pieces[index]?.start ?? 0) } };
  }
  return null;
}
