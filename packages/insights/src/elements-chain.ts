// Regular expressions for the stored elements of an autocaptured event: `tag.class:name="value"…;…`, starting with the
// innermost element.

/** Matches the prefix of an element's `text` attribute, in any element of the chain. */
export const anyTextPattern = '[:"]text="';
/** Builds a pattern that matches if an element's text equals the given text. */
export const buildElementTextPattern = (text: string) => `${anyTextPattern}${quoted(escapedInChain(text))}"`;
/** Builds a pattern that matches if an element's text contains the given text, ignoring case. */
export const buildElementTextPartPattern = (text: string) =>
  `(?i)${anyTextPattern}([^"\\\\]|\\\\.)*${quoted(escapedInChain(text))}`;
export const buildTagPattern = (tag: string) => `(?:^|;)${quoted(tag)}(?:[.:;]|$)`;
/** Matches the first `href` in the chain. The capture group contains the URL, with escaped quotes. */
export const hrefPattern = '[:"](?:attr__)?href="((?:[^"\\\\]|\\\\.)*)"';

const quoted = (text: string) => text.replace(/[.*+?^${}()|[\]\\/]/g, '\\$&');
const escapedInChain = (text: string) => text.replaceAll('"', '\\"');

/**
 * Translates a CSS selector to a regular expression. Supports `button.primary`, `#id`, `.class`, `[attr="x"]`, and
 * child combinators such as `a > b`. Returns null for any other selector.
 */
export function buildSelectorPattern(selector: string): string | null {
  const parts = selector
    .split('>')
    .map((part) => partPattern(part.trim()))
    .reverse();
  return parts.includes(null) ? null : `(?:^|;)${parts.join(';')}(?:;|$)`;
}

function partPattern(part: string): string | null {
  const match = /^([a-z][a-z0-9-]*)?((?:\.[\w-]+|#[\w-]+|\[[\w-]+="[^"\]]*"\])*)$/i.exec(part);
  if (match === null || part === '') return null;
  const [, tag, rest = ''] = match;
  const bits = [...rest.matchAll(/\.([\w-]+)|#([\w-]+)|\[([\w-]+)="([^"\]]*)"\]/g)];
  const classes = bits.flatMap(([, name]) => (name === undefined ? [] : [name])).sort();
  const attributes = bits.flatMap(([, , id, name, text]) =>
    id !== undefined ? [`attr_id="${id}"`] : name !== undefined ? [`attr__${name}="${text}"`] : [],
  );
  const others = '(?:\\.[^.:;]+)*';
  const head = `${tag === undefined ? '[a-z0-9-]+' : quoted(tag)}${others}${classes.map((name) => `\\.${quoted(name)}${others}`).join('')}`;
  const inside = attributes.sort().map((one) => `${quoted(one)}[^;]*`);
  return inside.length === 0 ? `${head}(?::[^;]*)?` : `${head}:[^;]*${inside.join('')}`;
}
