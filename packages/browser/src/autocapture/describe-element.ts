import { attributesOf, childrenOf, isElement, placeOf, tagOf } from './dom.ts';
import { shorten, textOf } from './element-text.ts';
import type { Privacy } from './privacy.ts';
import { isSensitive } from './sensitive-value.ts';

/** What is sent of an element. */
export interface ElementDescription {
  tag_name: string;
  $el_text?: string;
  classes?: string[];
  nth_child: number;
  nth_of_type: number;
  [attribute: `attr__${string}`]: string;
}

export interface Reading {
  isTextMasked: boolean;
  areAttributesMasked: boolean;
  ignoredAttributes: readonly string[];
}

export const usefulTags: readonly string[] = ['a', 'button', 'form', 'input', 'select', 'textarea', 'label'];
/** What the page, not a visitor, gives a field. */
const attributesOfFields = ['name', 'id', 'class', 'aria-label'];

export function describeElement(
  element: Element,
  { isPrivate, isTyped }: Privacy,
  reading: Reading,
): ElementDescription {
  const tag = tagOf(element);
  const description: ElementDescription = { tag_name: tag, ...placeOf(element) };
  if (usefulTags.includes(tag) && !reading.isTextMasked) {
    description.$el_text = isPrivate || isTyped ? '' : textOf(element);
  }
  if (reading.areAttributesMasked) return description;
  const typed = textsTypedIn(element);
  for (const { name, value } of attributesOf(element)) {
    if (reading.ignoredAttributes.includes(name) || /^_ng(content|host)/.test(name) || isSensitive(value)) continue;
    const mayRepeat = !attributesOfFields.includes(name);
    if (mayRepeat && (isTyped || typed.some((text) => value.includes(text)))) continue;
    description[`attr__${name}`] = shorten(name === 'class' ? wordsOf(value).join(' ') : value);
    if (name === 'class') description.classes = wordsOf(value);
  }
  return description;
}

export const wordsOf = (text: string): string[] => text.trim().split(/\s+/).filter(Boolean);

const fewChildren = 20;

/** Of the fields right in an element, which it may repeat in an attribute: so text areas grow with their text. */
function textsTypedIn(element: Element): string[] {
  return [...childrenOf(element, fewChildren)]
    .map((child) => (isElement(child) && /^(input|textarea)$/.test(tagOf(child)) ? typedIn(child) : ''))
    .filter((text) => text.length > 3);
}

const typedIn = (field: Element): string => String((field as HTMLInputElement).value ?? '');
