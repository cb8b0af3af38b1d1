import { attributeOf, hasClass, isElement, tagOf } from './dom.ts';

const secretName =
  /^cc|cardnum|ccnum|creditcard|csc|cvc|cvv|exp|pass|pwd|routing|seccode|securitycode|securitynum|socialsec|socsec|ssn/i;
/** Types of inputs whose `value` is the page's, not a visitor's. */
const pageValue = /^(button|checkbox|submit|reset)$/i;

export const isMarkedPrivate = (element: Element): boolean =>
  hasClass(element, 'ph-sensitive') || hasClass(element, 'ph-no-capture');

/** Whether its own type, name or id says that nobody else is to read it. `ph-include` says otherwise. */
export function isSecret(element: Element): boolean {
  if (hasClass(element, 'ph-include')) return false;
  if (tagOf(element) === 'input' && /^(hidden|password)$/i.test(attributeOf(element, 'type') ?? '')) return true;
  const name = attributeOf(element, 'name') || attributeOf(element, 'id') || '';
  return secretName.test(name.replace(/[^a-z0-9]/gi, ''));
}

const isEditor = (element: Element): boolean =>
  /^(true|plaintext-only|)$/i.test(attributeOf(element, 'contenteditable') ?? 'false');

/** Whether a visitor types into it or chooses from it. */
export function isField(element: Element): boolean {
  const tag = tagOf(element);
  if (tag === 'input') return !pageValue.test(attributeOf(element, 'type') ?? '');
  return /^(select|textarea|option|optgroup)$/.test(tag) || isEditor(element);
}

export interface Privacy {
  /** Under a marker, or secret by itself: nothing of it is read but what it is. */
  isPrivate: boolean;
  /** A field, or within an editor: its text and most of its attributes may have been typed. */
  isTyped: boolean;
}

/**
 * What may be read of the elements of a path. The way the event took is looked at as well: it leads through the shadow
 * trees that show an element in a slot, and a listener before this one may have taken the element from the page.
 */
export function privacyOf(path: Element[], eventPath: Node[]): Map<Element, Privacy> {
  const found = new Map<Element, Privacy>();
  for (const way of [path, eventPath.filter(isElement)]) {
    let isMarked = false;
    let isEdited = document.designMode === 'on';
    for (const element of [...way].reverse()) {
      isMarked ||= isMarkedPrivate(element);
      isEdited ||= isEditor(element);
      const before = found.get(element);
      found.set(element, {
        isPrivate: isMarked || (before ? before.isPrivate : isSecret(element)),
        isTyped: isEdited || (before ? before.isTyped : isField(element)),
      });
    }
  }
  return found;
}
