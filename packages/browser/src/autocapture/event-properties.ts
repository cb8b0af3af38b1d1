import type { Properties } from '../client/values.ts';
import { attributeOf, attributesOf, baseUri, namespaceOf, tagOf } from '../page/dom.ts';
import { describeElement, type Masks } from './describe-element.ts';
import { elementsChain, longestAddress } from './elements-chain.ts';
import { isReadable, type Privacy } from './privacy.ts';
import { isSensitive } from './sensitive-value.ts';

interface Seen {
  type: string;
  /** From the target up. */
  path: Element[];
  privacy: Map<Element, Privacy>;
  masks: Masks;
  /** The elements too, not only the chain made of them. */
  withElements: boolean;
}

const unknown: Privacy = { isPrivate: true, isTyped: true };

/** What is sent of an event. */
export function eventProperties({ type, path, privacy, masks, withElements }: Seen): Properties {
  const of = (element: Element) => privacy.get(element) ?? unknown;
  const canRead = (element: Element) => isReadable(of(element));
  const isClick = type === 'click';
  const control = isClick ? controlOfIcon(path) : 0;
  const mask_all_text = masks.mask_all_text || (control > 0 && !path.slice(0, control + 1).every(canRead));
  const elements = path
    .slice(control)
    .map((element, at) => describeElement(element, of(element), { ...masks, mask_all_text }, at === 0));
  const [target = { $el_text: '', attr__href: '' }] = elements;

  const areLinksMasked = masks.mask_all_element_attributes || masks.element_attribute_ignorelist?.includes('href');
  const address = areLinksMasked ? '' : addressOf(path, canRead);
  if (address) target.attr__href = address;
  return {
    $event_type: type,
    $ce_version: 1,
    ...(withElements && { $elements: elements as unknown as Properties[] }),
    $elements_chain: elementsChain(elements),
    ...(target.$el_text && { $el_text: target.$el_text }),
    ...(isClick && isElsewhere(address, path) && { $external_click_url: address }),
    ...ownProperties(path.filter((element) => !of(element).isPrivate)),
  };
}

/** A click on a drawing is one on the link or button it is drawn in: which of these, as a place in the path. */
function controlOfIcon(path: Element[]): number {
  if (!path[0] || namespaceOf(path[0]) !== 'http://www.w3.org/2000/svg') return 0;
  return Math.max(
    0,
    path.findIndex((element) => /^(a|button)$/.test(tagOf(element))),
  );
}

/** Where the outermost link leads. */
function addressOf(path: Element[], canRead: (element: Element) => boolean): string {
  const link = path.filter((element) => tagOf(element) === 'a').pop();
  const address = (link && canRead(link) && attributeOf(link, 'href')) || '';
  return isSensitive(address) ? '' : address.slice(0, longestAddress);
}

function isElsewhere(address: string, path: Element[]): boolean {
  try {
    const { host } = new URL(address, path[0] && baseUri(path[0]));
    return host !== '' && host !== location.host;
  } catch {
    return false;
  }
}

const prefix = 'data-ph-capture-attribute-';

/** Properties the page gives by `data-ph-capture-attribute-…`: those nearest to the target win. */
function ownProperties(path: Element[]): Properties {
  const properties: Properties = {};
  for (const element of [...path].reverse()) {
    for (const { name, value } of attributesOf(element)) {
      const [before, own] = name.split(prefix);
      if (before === '' && own && value && !isSensitive(value)) properties[own] = value;
    }
  }
  return properties;
}
