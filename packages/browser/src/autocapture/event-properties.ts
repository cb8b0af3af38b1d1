import type { Properties } from '../client/values.ts';
import { describeElement, type Reading } from './describe-element.ts';
import { attributeOf, attributesOf, baseUri, namespaceOf, tagOf } from './dom.ts';
import { textOf } from './element-text.ts';
import { elementsChain, longestAddress } from './elements-chain.ts';
import type { Privacy } from './privacy.ts';
import { isSensitive } from './sensitive-value.ts';

export interface Description extends Reading {
  type: string;
  /** The elements too, not only the chain made of them. */
  withElements: boolean;
}

/** What is sent of an event on the first element of a path. */
export function eventProperties(path: Element[], privacy: Map<Element, Privacy>, wanted: Description): Properties {
  const of = (element: Element) => privacy.get(element) ?? { isPrivate: true, isTyped: true };
  const isReadable = (element: Element) => !of(element).isPrivate && !of(element).isTyped;
  const shown = wanted.type === 'click' ? controlOfIcon(path) : 0;
  const isTextMasked = wanted.isTextMasked || (shown > 0 && !path.slice(0, shown + 1).every(isReadable));
  const elements = path
    .slice(shown)
    .map((element) => describeElement(element, of(element), { ...wanted, isTextMasked }));
  const [target] = elements;
  const [element] = path.slice(shown);
  if (!target || !element) return {};

  if (!isTextMasked) target.$el_text = isReadable(element) ? textOf(element) : '';
  const address =
    wanted.areAttributesMasked || wanted.ignoredAttributes.includes('href') ? '' : addressOf(path, isReadable);
  if (address) target.attr__href = address;
  return {
    $event_type: wanted.type,
    $ce_version: 1,
    ...(wanted.withElements && { $elements: elements as unknown as Properties[] }),
    $elements_chain: elementsChain(elements),
    ...(target.$el_text && { $el_text: target.$el_text }),
    ...(wanted.type === 'click' && isElsewhere(address, element) && { $external_click_url: address }),
    ...ownProperties(path.filter((at) => !of(at).isPrivate)),
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
function addressOf(path: Element[], isReadable: (element: Element) => boolean): string {
  const link = path.filter((element) => tagOf(element) === 'a').pop();
  const address = (link && isReadable(link) && attributeOf(link, 'href')) || '';
  return isSensitive(address) ? '' : address.slice(0, longestAddress);
}

function isElsewhere(address: string, element: Element): boolean {
  try {
    const { host } = new URL(address, baseUri(element));
    return address !== '' && host !== '' && host !== location.host;
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
      const own = name.startsWith(prefix) ? name.slice(prefix.length) : '';
      if (own && value && !isSensitive(value)) properties[own] = value;
    }
  }
  return properties;
}
