/**
 * Reads of the DOM by the browser's own getters. A page can shadow them: a form with a field called `attributes` answers
 * `form.attributes` with that field, and the getter of a custom element may throw.
 */
function reader<Value>(type: 'Node' | 'Element', name: keyof Element): (node: Node) => Value {
  let read: (() => Value) | undefined;
  return (node) => {
    read ??= Object.getOwnPropertyDescriptor(globalThis[type].prototype, name)?.get;
    return read?.call(node) as Value;
  };
}

export const nodeType = reader<number>('Node', 'nodeType');
const parentNode = reader<Node | null>('Node', 'parentNode');
const firstChild = reader<ChildNode | null>('Node', 'firstChild');
const nextSibling = reader<ChildNode | null>('Node', 'nextSibling');
export const baseUri = reader<string>('Node', 'baseURI');
export const namespaceOf = reader<string | null>('Element', 'namespaceURI');
const tagName = reader<string>('Element', 'tagName');
const classList = reader<DOMTokenList>('Element', 'classList');
export const attributesOf = reader<NamedNodeMap>('Element', 'attributes');
const previousElementSibling = reader<Element | null>('Element', 'previousElementSibling');

export const isElement = (node: Node | null): node is Element => node !== null && nodeType(node) === 1;
export const tagOf = (element: Element): string => tagName(element).toLowerCase();
export const hasClass = (element: Element, name: string): boolean => classList(element).contains(name);
export const attributeOf = (element: Element, name: string): string | null =>
  Element.prototype.getAttribute.call(element, name);

/** A selector that is none matches nothing. */
export function matchesAny(elements: Element[], selectors: readonly string[]): boolean {
  return selectors.some((selector) => {
    try {
      return elements.some((element) => Element.prototype.matches.call(element, selector));
    } catch {
      return false;
    }
  });
}

/** Itself, or what a text is of. */
const elementOf = (node: Node | undefined): Element | null =>
  !node || isElement(node) ? (node ?? null) : parentOf(node);

/** The element around it, out of a shadow tree too. */
function parentOf(node: Node): Element | null {
  const parent = parentNode(node);
  return isElement(parent) ? parent : ((parent as ShadowRoot | null)?.host ?? null);
}

const deepest = 1000;

/** From an element, or what it is of, up to the body. */
export function pathOf(target: Node | undefined): Element[] {
  const path: Element[] = [];
  for (let at = elementOf(target); at && path.length < deepest; at = parentOf(at)) {
    path.push(at);
    if (tagOf(at) === 'body') break;
  }
  return path;
}

/** The first nodes in it. */
export function* childrenOf(element: Element, most = 1000): Generator<Node> {
  for (let child = firstChild(element); child && most--; child = nextSibling(child)) yield child;
}

/** Its place among its siblings, and among those of its tag, from 1. */
export function placeOf(element: Element): { nth_child: number; nth_of_type: number } {
  const tag = tagName(element);
  const place = { nth_child: 1, nth_of_type: 1 };
  for (let at = previousElementSibling(element); at; at = previousElementSibling(at)) {
    place.nth_child++;
    if (tagName(at) === tag) place.nth_of_type++;
  }
  return place;
}
