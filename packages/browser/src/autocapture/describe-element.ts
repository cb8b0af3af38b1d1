import type { Options } from '../client/client.ts';
import { attributesOf, childrenOf, isElement, placeOf, tagOf } from '../page/dom.ts';
import { shorten, textOf } from './element-text.ts';
import { isReadable, type Part } from './privacy.ts';
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

export type Masks = Pick<Options, 'mask_all_text' | 'mask_all_element_attributes'> & {
  element_attribute_ignorelist?: string[];
};

export const usefulTags: readonly string[] = ['a', 'button', 'form', 'input', 'select', 'textarea', 'label'];
/** What the page, not a visitor, gives a field. */
const attributesOfFields = ['name', 'id', 'class', 'aria-label'];

export function describeElement(
  part: Part,
  { mask_all_text, mask_all_element_attributes, element_attribute_ignorelist }: Masks,
  isTarget: boolean,
): ElementDescription {
  const { element, tag: tag_name } = part;
  const description: ElementDescription = { tag_name, ...placeOf(element) };
  if (!mask_all_text && (isTarget || usefulTags.includes(tag_name))) {
    description.$el_text = isReadable(part) ? textOf(element) : '';
  }
  if (mask_all_element_attributes) return description;
  let typed: string[] | undefined;
  for (const { name, value } of attributesOf(element)) {
    if (element_attribute_ignorelist?.includes(name) || /^_ng(content|host)/.test(name) || isSensitive(value)) continue;
    const mayRepeat = !attributesOfFields.includes(name);
    if (mayRepeat) typed ??= textsTypedIn(element);
    if (mayRepeat && (part.isTyped || typed?.some((text) => value.includes(text)))) continue;
    if (name === 'class') description.classes = wordsOf(value);
    description[`attr__${name}`] = shorten(name === 'class' ? wordsOf(value).join(' ') : value);
  }
  return description;
}

export const wordsOf = (text: string): string[] => text.split(/\s+/).filter(Boolean);

const fewChildren = 20;

/** Of the fields right in an element, which it may repeat in an attribute: so text areas grow with their text. */
function textsTypedIn(element: Element): string[] {
  return [...childrenOf(element, fewChildren)]
    .map((child) => (isElement(child) && /^(input|textarea)$/.test(tagOf(child)) ? typedIn(child) : ''))
    .filter((text) => text.length > 3);
}

const typedIn = (field: Element): string => String((field as HTMLInputElement).value);
