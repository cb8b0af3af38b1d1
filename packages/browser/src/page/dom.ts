import { ofDocument, page } from './globals.ts';

/** A browser's own way to read a property of a node. */
interface Getter<Value> {
  call(node: Node): Value;
}

/** Not by `window.Element`, in whose place old frameworks have put another. */
const native: Element = page && Object.getPrototypeOf(HTMLElement.prototype);

/**
 * A page can shadow getters: a form with a field called `attributes` answers `form.attributes` with that field, and the
 * getter of a custom element may throw.
 */
function getterOf<Value>(name: keyof Element): Getter<Value> {
  const getter = (prototype: object) => Object.getOwnPropertyDescriptor(prototype, name)?.get;
  return (page && (getter(native) ?? getter(Node.prototype))) as Getter<Value>;
}

export const nodeType = getterOf<number>('nodeType');
const parentNode = getterOf<Node | null>('parentNode');
const firstChild = getterOf<ChildNode | null>('firstChild');
const nextSibling = getterOf<ChildNode | null>('nextSibling');
const tagName = getterOf<string>('tagName');
export const textContent = getterOf<string | null>('textContent');
export const shadowRoot = getterOf<ShadowRoot | null>('shadowRoot');
const previousElementSibling = getterOf<Element | null>('previousElementSibling');

export const isElement = (node: Node | null): node is Element => node !== null && nodeType.call(node) === 1;
export const tagOf = (element: Element): string => tagName.call(element).toLowerCase();
export const attributeOf = (element: Element, name: string): string | null => native.getAttribute.call(element, name);

/** By their names: to ask for `attributes` makes a node of each. */
export const attributesOf = (element: Element): Record<string, string> =>
  Object.fromEntries(native.getAttributeNames.call(element).map((name) => [name, attributeOf(element, name) ?? '']));

/** A selector that is none matches nothing. */
export function matchesAny(elements: Element[], selectors: readonly string[]): boolean {
  return selectors.some((selector) => {
    try {
      return elements.some((element) => native.matches.call(element, selector));
    } catch {
      return false;
    }
  });
}

/** The element around it, out of a shadow tree too. */
export function parentOf(node: Node): Element | null {
  const parent = parentNode.call(node);
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

/** The document, or the shadow tree, that it is in. */
export const rootOf = (element: Element): Node => native.getRootNode.call(element);

export function findIn(root: Node, selector: string): Iterable<Element> {
  const query = root === document ? ofDocument('querySelectorAll') : (root as ParentNode).querySelectorAll;
  return query.call(root, selector);
}

/** The first nodes in it. */
export function* childrenOf(element: Element, most = 1000): Generator<Node> {
  for (let child = firstChild.call(element); child && most--; child = nextSibling.call(child)) yield child;
}

/** Its place among its siblings, and among those of its tag, from 1. */
export function placeOf(element: Element): { nth_child: number; nth_of_type: number } {
  const tag = tagName.call(element);
  const place = { nth_child: 1, nth_of_type: 1 };
  for (let at = previousElementSibling.call(element); at; at = previousElementSibling.call(at)) {
    place.nth_child++;
    if (tagName.call(at) === tag) place.nth_of_type++;
  }
  return place;
}
