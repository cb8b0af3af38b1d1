import { attributeOf, hasClass, tagOf } from '../page/dom.ts';

const secretName =
  /^cc|cardnum|ccnum|creditcard|csc|cvc|cvv|exp|pass|pwd|routing|seccode|securitycode|securitynum|socialsec|socsec|ssn/i;

/** Whether its own type, name or id says that nobody else is to read it. `ph-include` says otherwise. */
function isSecret(element: Element): boolean {
  if (hasClass(element, 'ph-include')) return false;
  if (tagOf(element) === 'input' && /^(hidden|password)$/i.test(attributeOf(element, 'type') ?? '')) return true;
  const name = attributeOf(element, 'name') || attributeOf(element, 'id') || '';
  return secretName.test(name.replace(/[^a-z0-9]/gi, ''));
}

const isEditor = (element: Element): boolean =>
  /^(true|plaintext-only|)$/i.test(attributeOf(element, 'contenteditable') ?? 'false');

/** Whether a visitor types into it or chooses from it. The `value` of a button is the page's. */
function isField(element: Element): boolean {
  const tag = tagOf(element);
  if (tag === 'input') return !/^(button|checkbox|submit|reset)$/i.test(attributeOf(element, 'type') ?? '');
  return /^(select|textarea|option|optgroup)$/.test(tag) || isEditor(element);
}

export interface Privacy {
  /** Secret by itself, or under a marker: no text, nor what the page gives for capture. */
  isPrivate: boolean;
  /** A field, or within an editor: its text and most of its attributes may have been typed. */
  isTyped: boolean;
}

/** What an element says of itself. */
const ownPrivacy = (element: Element): Privacy => ({
  isPrivate: isSecret(element) || isMarked(element),
  isTyped: isField(element),
});

const isMarked = (element: Element): boolean => hasClass(element, 'ph-sensitive') || hasClass(element, 'ph-no-capture');

export const isReadable = ({ isPrivate, isTyped }: Privacy): boolean => !isPrivate && !isTyped;

export const isReadableItself = (element: Element): boolean => isReadable(ownPrivacy(element));

/** An element of the way up from the target, and what may be read of it. */
export interface Part extends Privacy {
  element: Element;
  tag: string;
}

/**
 * The parts of a path. `around` are elements that are around it in another way: the document, and those of the shadow
 * trees that show it in a slot.
 */
export function partsOf(path: Element[], around: Element[]): Part[] {
  let isWithinMarked = around.some(isMarked);
  let isWithinEditor = document.designMode === 'on' || around.some(isEditor);
  const parts = [...path].reverse().map((element): Part => {
    isWithinMarked ||= isMarked(element);
    isWithinEditor ||= isEditor(element);
    const isPrivate = isWithinMarked || isSecret(element);
    return { element, tag: tagOf(element), isPrivate, isTyped: isWithinEditor || isField(element) };
  });
  return parts.reverse();
}
