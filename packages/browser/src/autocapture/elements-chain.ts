import { type ElementDescription, wordsOf } from './describe-element.ts';

/** Elements as one string, as the service parses it: `button.a.b:attr__class="a b"nth-child="1"…;body:…`. */
export function elementsChain(elements: ElementDescription[]): string {
  return elements.map(link).join(';');
}

function link(element: ElementDescription): string {
  const { tag_name, $el_text, attr__class, attr__href, attr__id } = element;
  const pairs: Record<string, string | number | undefined> = {
    text: $el_text?.slice(0, 400),
    'nth-child': element.nth_child,
    'nth-of-type': element.nth_of_type,
    href: attr__href?.slice(0, longestAddress),
    attr_id: attr__id,
  };
  for (const name in element) if (name.startsWith('attr__')) pairs[name] = element[name as `attr__${string}`];
  const classes = wordsOf(attr__class ?? '')
    .sort()
    .map((name) => `.${name.replace(/"/g, '')}`);
  const written = Object.keys(pairs)
    .sort()
    .map((name) => write(name, pairs[name]));
  return `${tag_name}${classes.join('')}:${written.join('')}`;
}

export const longestAddress = 2048;

/** Attributes may be empty, what is made of them is left out then. */
function write(name: string, value: string | number | undefined): string {
  if (!value && !name.startsWith('attr__')) return '';
  return `${quoted(name)}="${quoted(String(value))}"`;
}

const quoted = (text: string): string => text.replace(/\\?"/g, '\\"');
