import { attributesOf, tagOf } from '../page/dom.ts';

/** An element as it was when it was read, which is once: each question to the page takes its time. */
export interface ReadElement {
  element: Element;
  tag: string;
  attributes: Record<string, string>;
  classes: string[];
}

export function readElement(element: Element): ReadElement {
  const attributes = attributesOf(element);
  return { element, tag: tagOf(element), attributes, classes: wordsOf(attributes.class) };
}

export const wordsOf = (text = ''): string[] => text.split(/\s+/).filter(Boolean);
