import type { Properties } from '../client/values.ts';
import { describeElement, type ElementDescription, type Masks } from './describe-element.ts';
import { elementsChain, longestAddress } from './elements-chain.ts';
import { isReadable, type Part } from './privacy.ts';
import { isSensitive } from './sensitive-value.ts';

interface Seen {
  type: string;
  /** From the target up. */
  parts: Part[];
  masks: Masks;
  /** The elements too, not only the chain made of them. */
  withElements: boolean;
}

/** What is sent of an event: read from the page at once, put together when it is asked for. */
export function readEvent({ type, parts, masks, withElements }: Seen): () => Properties {
  const isClick = type === 'click';
  const control = isClick ? controlOfIcon(parts) : 0;
  const mask_all_text = masks.mask_all_text || (control > 0 && !parts.slice(0, control + 1).every(isReadable));
  const asMasked = { ...masks, mask_all_text };
  const described = parts.slice(control).map((part, at) => describeElement(part, asMasked, at === 0));
  return () => {
    const elements = described.map((describe) => describe());
    const target = elements[0] as ElementDescription;
    const areLinksMasked = masks.mask_all_element_attributes || masks.element_attribute_ignorelist?.includes('href');
    const address = areLinksMasked ? '' : addressOf(parts);
    if (address) target.attr__href = address;
    return {
      $event_type: type,
      $ce_version: 1,
      ...(withElements && { $elements: elements as unknown as Properties[] }),
      $elements_chain: elementsChain(elements),
      ...(target.$el_text && { $el_text: target.$el_text }),
      ...(isClick && address && isElsewhere(address) && { $external_click_url: address }),
      ...ownProperties(parts),
    };
  };
}

/** A click on a drawing is one on the link or button it is drawn in: which of these, as a place in the path. */
function controlOfIcon(parts: Part[]): number {
  const isDrawing = parts[0] && 'ownerSVGElement' in parts[0].element;
  const control = parts.findIndex(({ tag }) => /^(a|button)$/.test(tag));
  return isDrawing ? Math.max(control, 0) : 0;
}

/** Where the outermost link leads. */
function addressOf(parts: Part[]): string {
  const link = parts.filter(({ tag }) => tag === 'a').pop();
  const address = (link && isReadable(link) && link.attributes.href) || '';
  return isSensitive(address) ? '' : address.slice(0, longestAddress);
}

function isElsewhere(address: string): boolean {
  try {
    const { host } = new URL(address, document.baseURI);
    return host !== '' && host !== location.host;
  } catch {
    return false;
  }
}

const prefix = 'data-ph-capture-attribute-';

/** Properties the page gives by `data-ph-capture-attribute-…`: those nearest to the target win. */
function ownProperties(parts: Part[]): Properties {
  const properties: Properties = {};
  for (const { attributes, isPrivate } of [...parts].reverse()) {
    for (const [name, value] of isPrivate ? [] : Object.entries(attributes)) {
      const [before, own] = name.split(prefix);
      if (before === '' && own && value && !isSensitive(value)) properties[own] = value;
    }
  }
  return properties;
}
