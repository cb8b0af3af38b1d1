/**
 * Reads of the DOM by the browser's own getters. A page can shadow them: a form with a field called `attributes` answers
 * `form.attributes` with that field, and the getter of a custom element may throw.
 */
function reader<Value>(name: keyof Element): (node: Node) => Value {
  const getterOf = (prototype: object) => Object.getOwnPropertyDescriptor(prototype, name)?.get;
  let read: (() => Value) | undefined;
  return (node) => {
    read ??= getterOf(Element.prototype) ?? getterOf(Node.prototype);
    return read?.call(node) as Value;
  };
}

export const nodeType = reader<number>('nodeType');
const parentNode = reader<Node | null>('parentNode');
const firstChild = reader<ChildNode | null>('firstChild');
const nextSibling = reader<ChildNode | null>('nextSibling');
const tagName = reader<string>('tagName');
const previousElementSibling = reader<Element | null>('previousElementSibling');

export const isElement = (node: Node | null): node is Element => node !== null && nodeType(node) === 1;
export const tagOf = (element: Element): string => tagName(element).toLowerCase();
export const attributeOf = (element: Element, name: string): string | null =>
  Element.prototype.getAttribute.call(element, name);

/** By their names: to ask for `attributes` makes a node of each. */
export function attributesOf(element: Element): Record<string, string> {
  const attributes: Record<string, string> = {};
  for (const name of Element.prototype.getAttributeNames.call(element)) {
    attributes[name] = attributeOf(element, name) ?? '';
  }
  return attributes;
}

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

/** The element around it, out of a shadow tree too. */
export function parentOf(node: Node): Element | null {
  const parent = parentNode(node);
  return isElement(parent) ? parent : ((parent as ShadowRoot | null)?.host ?? null);
}

const deepest = 1000;

/** From an element, or what a text is of, up to the body. */
export function pathOf(target: Node): Element[] {
  const path: Element[] = [];
  for (let at = isElement(target) ? target : parentOf(target); at && path.length < deepest; at = parentOf(at)) {
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
