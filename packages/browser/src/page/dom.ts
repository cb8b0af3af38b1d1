// Reads page elements in ways that the page cannot interfere with.

import { page, readFromDocument } from './globals.ts';

/** The browser's original getter of a node property. */
interface Getter<Value> {
  call(node: Node): Value;
}

/** `window.Element` is not used here, because old frameworks replace it. */
const native: Element = page && Object.getPrototypeOf(HTMLElement.prototype);

/**
 * Returns the browser's original getter of a property, because a page can shadow properties. For example, if a form has
 * a field named `attributes`, `form.attributes` returns that field. The getters of custom elements may also throw.
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
export const readTag = (element: Element): string => tagName.call(element).toLowerCase();
export const readAttribute = (element: Element, name: string): string | null => native.getAttribute.call(element, name);

/** Reads attributes by name, because the property `attributes` is slow: it creates a node for each attribute. */
export const readAttributes = (element: Element): Record<string, string> =>
  Object.fromEntries(native.getAttributeNames.call(element).map((name) => [name, readAttribute(element, name) ?? '']));

/** Returns whether any element matches any selector. An invalid selector does not match any element. */
export function matchesAny(elements: Element[], selectors: readonly string[]): boolean {
  return selectors.some((selector) => {
    try {
      return elements.some((element) => native.matches.call(element, selector));
    } catch {
      return false;
    }
  });
}

/** Returns the parent element of a node. The parent of a node in a shadow root is the shadow host. */
export function findParent(node: Node): Element | null {
  const parent = parentNode.call(node);
  return isElement(parent) ? parent : ((parent as ShadowRoot | null)?.host ?? null);
}

const deepest = 1000;

/** Returns the elements from a node up to the body. */
export function listAncestors(target: Node): Element[] {
  const path: Element[] = [];
  for (let at = isElement(target) ? target : findParent(target); at && path.length < deepest; at = findParent(at)) {
    path.push(at);
    if (readTag(at) === 'body') break;
  }
  return path;
}

export const findRoot = (element: Element): Node => native.getRootNode.call(element);

export function selectElements(root: Node, selector: string): Iterable<Element> {
  const query = root === document ? readFromDocument('querySelectorAll') : (root as ParentNode).querySelectorAll;
  return query.call(root, selector);
}

export function* listChildren(element: Element, most = 1000): Generator<Node> {
  for (let child = firstChild.call(element); child && most--; child = nextSibling.call(child)) yield child;
}

/** Returns the 1-based position of an element among all its siblings, and among its siblings with the same tag. */
export function findSiblingPosition(element: Element): { nth_child: number; nth_of_type: number } {
  const tag = tagName.call(element);
  const place = { nth_child: 1, nth_of_type: 1 };
  for (let at = previousElementSibling.call(element); at; at = previousElementSibling.call(at)) {
    place.nth_child++;
    if (tagName.call(at) === tag) place.nth_of_type++;
  }
  return place;
}
