// Patterns for the text in which the elements of an autocaptured event are kept: `tag.class:name="value"…;…`, the innermost first.

/** Some element has a text; what follows is the text. */
export const anyTextPattern = '[:"]text="';
/** Some element has this text. */
export const textPattern = (text: string) => `${anyTextPattern}${quoted(escapedInChain(text))}"`;
/** Some element has it in its text, in capitals or not. */
export const partOfTextPattern = (text: string) =>
  `(?i)${anyTextPattern}([^"\\\\]|\\\\.)*${quoted(escapedInChain(text))}`;
export const tagPattern = (tag: string) => `(?:^|;)${quoted(tag)}(?:[.:;]|$)`;
/** Finds the first address; between its parentheses is the address, its quotes escaped. */
export const hrefPattern = '[:"](?:attr__)?href="((?:[^"\\\\]|\\\\.)*)"';

const quoted = (text: string) => text.replace(/[.*+?^${}()|[\]\\/]/g, '\\$&');
const escapedInChain = (text: string) => text.replaceAll('"', '\\"');

/** Of `button.primary`, `#id`, `.class`, `[attr="x"]`, and `a > b` of them; null for anything else. */
export function selectorPattern(selector: string): string | null {
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
