import type { Options } from '../client/client.ts';
import { childrenOf, isElement, placeOf, tagOf } from '../page/dom.ts';
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
const mayRepeat = (attribute: string): boolean => !attributesOfFields.includes(attribute);

/** Reads at once what is left to read of an element, and describes it when it is asked for. */
export function describeElement(part: Part, masks: Masks, isTarget: boolean): () => ElementDescription {
  const { element, tag: tag_name } = part;
  const description: ElementDescription = { tag_name, ...placeOf(element) };
  if (!masks.mask_all_text && (isTarget || usefulTags.includes(tag_name))) {
    description.$el_text = isReadable(part) ? textOf(element) : '';
  }
  if (masks.mask_all_element_attributes) return () => description;
  const typed = Object.keys(part.attributes).some(mayRepeat) ? textsTypedIn(element) : [];
  return () => ({ ...description, ...attributesSent(part, typed, masks) });
}

type AttributesSent = Pick<ElementDescription, 'classes' | `attr__${string}`>;

function attributesSent(
  { attributes, classes, isTyped }: Part,
  typed: string[],
  { element_attribute_ignorelist }: Masks,
): AttributesSent {
  const sent: AttributesSent = {};
  for (const [name, value] of Object.entries(attributes)) {
    if (element_attribute_ignorelist?.includes(name) || /^_ng(content|host)/.test(name) || isSensitive(value)) continue;
    if (mayRepeat(name) && (isTyped || typed.some((text) => value.includes(text)))) continue;
    if (name === 'class') sent.classes = classes;
    sent[`attr__${name}`] = shorten(name === 'class' ? classes.join(' ') : value);
  }
  return sent;
}

const fewChildren = 20;

/** Of the fields right in an element, which it may repeat in an attribute: so text areas grow with their text. */
function textsTypedIn(element: Element): string[] {
  return [...childrenOf(element, fewChildren)]
    .map((child) => (isElement(child) && /^(input|textarea)$/.test(tagOf(child)) ? typedIn(child) : ''))
    .filter((text) => text.length > 3);
}

const typedIn = (field: Element): string => String((field as HTMLInputElement).value);
