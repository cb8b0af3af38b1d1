// Builds the properties of a captured DOM event and its elements.

import type { Options } from '../client/client.ts';
import type { Properties } from '../client/values.ts';
import { findSiblingPosition, isElement, listChildren, nodeType, readTag } from '../page/dom.ts';
import { readFromDocument } from '../page/globals.ts';
import {
  createRepetitionTest,
  isReadable,
  isReadableItself,
  isSensitive,
  type PathElement,
  removeSensitiveNumbers,
  splitWords,
} from './privacy.ts';

interface Seen {
  type: string;
  /** The elements on the path, starting with the target. */
  parts: PathElement[];
  masks: Masks;
  /** Whether to send the list of elements in addition to `elements_chain`. */
  withElements: boolean;
  copied: Properties;
}

/** Reads a DOM event from the page immediately, and returns a function that builds its properties later. */
export function prepareEventProperties({ type, parts, masks, withElements, copied }: Seen): () => Properties {
  const isClick = type === 'click';
  const control = isClick ? controlOfIcon(parts) : 0;
  const mask_all_text = masks.mask_all_text || (control > 0 && !parts.slice(0, control + 1).every(isReadable));
  const asMasked = { ...masks, mask_all_text };
  const described = parts.slice(control).map((part, at) => describeElement(part, asMasked, at === 0));
  const repeats = createRepetitionTest(parts);
  const hidesAt =
    (at: number): Hides =>
    (text, isName) =>
      isSensitive(text) || repeats(text, at, isName);
  return () => {
    const elements = described.map((describe, at) => describe(hidesAt(at + control)));
    // The digits of a sensitive number may be spread over several elements. Therefore, check the joined texts in both
    // orders.
    const texts = elements.map(({ $el_text = '' }) => $el_text);
    if (isSplit(texts.join(' ')) || isSplit(texts.reverse().join(' ')))
      for (const element of elements) element.$el_text &&= '';
    const target = elements[0] as ElementDescription;
    const areLinksMasked = masks.mask_all_element_attributes || masks.element_attribute_ignorelist?.includes('href');
    const address = areLinksMasked ? '' : addressOf(parts, hidesAt);
    if (address) target.attr__href = address;
    return {
      $event_type: type,
      $ce_version: 1,
      ...(withElements && { $elements: elements as unknown as Properties[] }),
      $elements_chain: elementsChain(elements),
      ...(target.$el_text && { $el_text: target.$el_text }),
      ...(isClick && address && isElsewhere(address) && { $external_click_url: address }),
      ...ownProperties(parts, hidesAt),
      ...(!hidesAt(0)(String(copied.$selected_content ?? '')) && copied),
    };
  };
}

type HidesAt = (at: number) => Hides;

/**
 * Returns the index of the link or button that contains a clicked SVG drawing, because the click counts as a click on
 * that element.
 */
function controlOfIcon(parts: PathElement[]): number {
  const isDrawing = parts[0] && 'ownerSVGElement' in parts[0].element;
  const control = parts.findIndex(({ tag }) => /^(a|button)$/.test(tag));
  return isDrawing ? Math.max(control, 0) : 0;
}

/** Returns the URL of the outermost link. */
function addressOf(parts: PathElement[], hidesAt: HidesAt): string {
  const at = parts.map(({ tag }) => tag).lastIndexOf('a');
  const link = parts[at];
  const address = (link && isReadable(link) && link.attributes.href) || '';
  return hidesAt(at)(address) ? '' : address.slice(0, longestAddress);
}

function isElsewhere(address: string): boolean {
  try {
    const { host } = new URL(address, readFromDocument('baseURI'));
    return host !== '' && host !== location.host;
  } catch {
    return false;
  }
}

const prefix = 'data-ph-capture-attribute-';

/**
 * Returns the properties that the page defines in `data-ph-capture-attribute-…`. If several elements define the same
 * property, the one nearest to the target wins.
 */
function ownProperties(parts: PathElement[], hidesAt: HidesAt): Properties {
  const properties: Properties = {};
  for (const [at, { attributes, isPrivate }] of [...parts.entries()].reverse()) {
    for (const [name, value] of isPrivate ? [] : Object.entries(attributes)) {
      const [before, own] = name.split(prefix);
      if (before === '' && own && value && !hidesAt(at)(value)) properties[own] = value;
    }
  }
  return properties;
}

/**
 * Encodes elements as one string in the format that the service parses: `button.a.b:attr__class="a
 * b"nth-child="1"…;body:…`.
 */
function elementsChain(elements: ElementDescription[]): string {
  return elements.map(link).join(';');
}

const longestAddress = 2048;

function link(element: ElementDescription): string {
  const { tag_name, $el_text, attr__class, attr__href, attr__id } = element;
  const pairs: Record<string, string | number> = {
    ...($el_text && { text: $el_text.slice(0, 400) }),
    'nth-child': element.nth_child,
    'nth-of-type': element.nth_of_type,
    ...(attr__href && { href: attr__href.slice(0, longestAddress) }),
    ...(attr__id && { attr_id: attr__id }),
  };
  for (const name in element) {
    if (name.startsWith('attr__')) pairs[name] = element[name as `attr__${string}`] ?? '';
  }
  const classes = splitWords(attr__class).sort();
  const written = Object.keys(pairs).sort();
  return `${[tag_name, ...classes.map((name) => name.replace(/"/g, ''))].join('.')}:${written
    .map((name) => `${quoted(name)}="${quoted(String(pairs[name]))}"`)
    .join('')}`;
}

const quoted = (text: string): string => text.replace(/\\?"/g, '\\"');

interface ElementDescription {
  tag_name: string;
  $el_text?: string;
  classes?: string[];
  nth_child: number;
  nth_of_type: number;
  [attribute: `attr__${string}`]: string;
}

type Masks = Pick<Options, 'mask_all_text' | 'mask_all_element_attributes'> & {
  element_attribute_ignorelist?: string[];
};

export const usefulTags: readonly string[] = ['a', 'button', 'form', 'input', 'select', 'textarea', 'label'];
/** Form field attributes that the page sets. They cannot contain what the visitor typed. */
const attributesOfFields = ['name', 'id', 'class', 'aria-label'];

/** Returns whether a string must not be sent. With `isName`, the string is an element's name or class. */
type Hides = (text: string, isName?: boolean) => boolean;

/** Reads an element immediately, and returns a function that describes it later. */
function describeElement(part: PathElement, masks: Masks, isTarget: boolean): (hides: Hides) => ElementDescription {
  const { element, tag: tag_name } = part;
  const description: ElementDescription = { tag_name, ...findSiblingPosition(element) };
  const hasText = !masks.mask_all_text && (isTarget || usefulTags.includes(tag_name));
  const text = hasText && isReadable(part) ? textOf(element) : '';
  return (hides) => ({
    ...description,
    ...(hasText && { $el_text: hides(text) ? '' : text }),
    ...(!masks.mask_all_element_attributes && attributesSent(part, masks, hides)),
  });
}

type AttributesSent = Pick<ElementDescription, 'classes' | `attr__${string}`>;

function attributesSent(
  { attributes, classes, isTyped }: PathElement,
  { element_attribute_ignorelist }: Masks,
  hides: Hides,
): AttributesSent {
  const sent: AttributesSent = {};
  for (const [name, value] of Object.entries(attributes)) {
    if (element_attribute_ignorelist?.includes(name) || /^_ng(content|host)/.test(name) || hides(name, true)) continue;
    if (name === 'class') {
      sent.classes = hides(value, true) ? classes.filter((word) => !hides(word, true)) : classes;
      sent.attr__class = shorten(sent.classes.join(' '));
    } else if (!(isTyped && !attributesOfFields.includes(name)) && !hides(value, /^(name|id)$/.test(name))) {
      sent[`attr__${name}`] = shorten(value);
    }
  }
  return sent;
}

const longest = 1024;

const shorten = (text: string): string => (text.length > longest ? `${text.slice(0, longest)}...` : text);

/** Returns the text of an element: its own text nodes and, for links and buttons, those of nested spans. */
function textOf(element: Element): string {
  const text = joinWords(ownText(element), /^(a|button)$/.test(readTag(element)) ? spanText(element) : '');
  return isSplit(text) ? '' : shorten(text);
}

/** Returns whether a text contains a sensitive number, even if whitespace separates its digits. */
const isSplit = (text: string): boolean => isSensitive(text) || isSensitive(text.replace(/\s/g, ''));

function ownText(element: Element): string {
  let text = '';
  for (const child of listChildren(element)) {
    if (text.length > longest) break;
    if (nodeType.call(child) === 3) text += removeSensitiveNumbers((child as Text).data);
  }
  return text.trim();
}

/** Maximum nesting depth of the spans that are read. Only generated pages nest spans deeper. */
const deepestSpan = 50;

function spanText(element: Element, depth = 0): string {
  let text = '';
  for (const child of listChildren(element)) {
    if (text.length > longest) break;
    if (!isElement(child) || readTag(child) !== 'span' || !isReadableItself(child)) continue;
    text = joinWords(text, ownText(child), depth < deepestSpan ? spanText(child, depth + 1) : '');
  }
  return text;
}

const joinWords = (...words: string[]): string => words.filter(Boolean).join(' ');
