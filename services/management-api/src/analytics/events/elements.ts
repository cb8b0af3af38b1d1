/** An element of an autocaptured click, in PostHog's format. */
interface EventElement {
  order: number;
  tag_name: string | null;
  text: string | null;
  href: string | null;
  attr_class: string[] | null;
  attr_id: string | null;
  nth_child: number | null;
  nth_of_type: number | null;
  attributes: Record<string, string>;
}

/**
 * Maximum number of elements in a chain. Clients can send a chain of any length, so parsing would be slow without this
 * limit. Real pages are not nested this deeply.
 */
const maxElements = 500;

/**
 * Parses an elements chain in a single pass. Elements are separated by `;`, and each has the form
 * `tag.class.class:key="value"key="value"`. Quotes within values are escaped with a backslash. Malformed parts are
 * skipped.
 */
export function parseElements(chain: string): EventElement[] {
  const elements: EventElement[] = [];
  for (let at = 0; at < chain.length && elements.length < maxElements; ) {
    const head = headEnd(chain, at);
    const element = fromHead(chain.slice(at, head), elements.length);
    at = chain[head] === ':' ? readAttributes(chain, head + 1, element) : head;
    elements.push(element);
    at += 1;
  }
  return elements;
}

/**
 * Finds the end of an element's tag and classes: the first semicolon, or the first colon before an attribute. Class
 * names can contain colons too.
 */
function headEnd(chain: string, start: number): number {
  const attribute = /[\w-]*="/y;
  for (let at = start; ; at += 1) {
    at = until(chain, at, [':', ';']);
    attribute.lastIndex = at + 1;
    if (chain[at] !== ':' || attribute.test(chain)) return at;
  }
}

function fromHead(head: string, order: number): EventElement {
  const [tag = '', ...classes] = head.replace(/:$/, '').split('.');
  const named = classes.filter((name) => name !== '');
  return {
    order,
    tag_name: tag === '' ? null : tag,
    text: null,
    href: null,
    attr_class: classes.length > 0 ? named : null,
    attr_id: null,
    nth_child: null,
    nth_of_type: null,
    attributes: {},
  };
}

/**
 * Reads an element's attributes into `element`.
 * @returns the position of the semicolon after the element, or the end of the chain
 */
function readAttributes(chain: string, start: number, element: EventElement): number {
  for (let at = start; at < chain.length; ) {
    const equals = until(chain, at, ['=', ';']);
    if (chain[equals] !== '=') return equals;
    if (chain[equals + 1] !== '"') {
      at = equals + 1;
      continue;
    }
    const end = closingQuote(chain, equals + 2);
    setAttribute(element, chain.slice(at, equals), withPlainQuotes(chain.slice(equals + 2, end)));
    at = end + 1;
  }
  return chain.length;
}

function setAttribute(element: EventElement, key: string, value: string): void {
  switch (key) {
    case 'text':
    case 'href':
    case 'attr_id':
      element[key] = value;
      return;
    case 'nth-child':
      element.nth_child = toInteger(value);
      return;
    case 'nth-of-type':
      element.nth_of_type = toInteger(value);
      return;
    default:
      if (key !== '')
        Object.defineProperty(element.attributes, withPlainQuotes(key), {
          value,
          enumerable: true,
          configurable: true,
          writable: true,
        });
  }
}

function toInteger(value: string): number | null {
  return /^\d{1,9}$/.test(value) ? Number(value) : null;
}

function until(chain: string, start: number, ends: readonly string[]): number {
  let at = start;
  while (at < chain.length && !ends.includes(chain.charAt(at))) at += 1;
  return at;
}

function closingQuote(chain: string, start: number): number {
  let at = start;
  while (at < chain.length && chain[at] !== '"') at += chain[at] === '\\' ? 2 : 1;
  return Math.min(at, chain.length);
}

const withPlainQuotes = (text: string) => text.replaceAll('\\"', '"');
