import { childrenOf, isElement, nodeType, tagOf } from '../page/dom.ts';
import { isReadableItself } from './privacy.ts';
import { isSensitive, readableText } from './sensitive-value.ts';

const longest = 1024;

export const shorten = (text: string): string => (text.length > longest ? `${text.slice(0, longest)}...` : text);

/** The text of an element: its own text nodes, for links and buttons those of the spans in it too. */
export function textOf(element: Element): string {
  if (!/^(a|button)$/.test(tagOf(element))) return shorten(ownText(element));
  const text = joinWords(ownText(element), spanText(element));
  return isSensitive(text) ? '' : shorten(text);
}

function ownText(element: Element): string {
  let text = '';
  for (const child of childrenOf(element)) {
    if (text.length > longest) break;
    if (nodeType.call(child) === 3) text += readableText((child as Text).data);
  }
  return text.trim();
}

/** A page that nests deeper than this is none that people read. */
const deepestSpan = 50;

function spanText(element: Element, depth = 0): string {
  let text = '';
  for (const child of childrenOf(element)) {
    if (text.length > longest) break;
    if (!isElement(child) || tagOf(child) !== 'span' || !isReadableItself(child)) continue;
    text = joinWords(text, ownText(child), depth < deepestSpan ? spanText(child, depth + 1) : '');
  }
  return text;
}

const joinWords = (...words: string[]): string => words.filter(Boolean).join(' ');
