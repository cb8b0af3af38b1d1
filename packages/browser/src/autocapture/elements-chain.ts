import type { ElementDescription } from './describe-element.ts';
import { wordsOf } from './read-element.ts';

/** Elements as one string, as the service parses it: `button.a.b:attr__class="a b"nth-child="1"…;body:…`. */
export function elementsChain(elements: ElementDescription[]): string {
  return elements.map(link).join(';');
}

export const longestAddress = 2048;

function link(element: ElementDescription): string {
  const { tag_name, $el_text, attr__class, attr__href, attr__id } = element;
  /** Attributes may be empty, what is made of them is left out then. */
  const pairs: Record<string, string | number> = {
    ...($el_text && { text: $el_text.slice(0, 400) }),
    'nth-child': element.nth_child,
    'nth-of-type': element.nth_of_type,
    ...(attr__href && { href: attr__href.slice(0, longestAddress) }),
    ...(attr__id && { attr_id: attr__id }),
  };
  for (const name in element) {
    if (name.startsWith('attr__')) pairs[name] = element[name as `attr__${string}`] ?? '';
  }
  const classes = wordsOf(attr__class).sort();
  const written = Object.keys(pairs).sort();
  return `${[tag_name, ...classes.map((name) => name.replace(/"/g, ''))].join('.')}:${written
    .map((name) => `${quoted(name)}="${quoted(String(pairs[name]))}"`)
    .join('')}`;
}

const quoted = (text: string): string => text.replace(/\\?"/g, '\\"');
