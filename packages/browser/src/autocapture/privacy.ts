import { attributeOf, hasClass, isElement, tagOf } from '../page/dom.ts';

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
export const ownPrivacy = (element: Element): Privacy => ({
  isPrivate: isSecret(element) || hasClass(element, 'ph-sensitive') || hasClass(element, 'ph-no-capture'),
  isTyped: isField(element),
});

export const isReadable = ({ isPrivate, isTyped }: Privacy): boolean => !isPrivate && !isTyped;

/**
 * What may be read of the elements of a path; nothing where one of them is not to be captured. The way the event took is
 * looked at as well: it leads through the shadow trees that show an element in a slot, and a listener before this one may
 * have taken the element from the page.
 */
export function privacyOf(path: Element[], eventPath: Node[]): Map<Element, Privacy> | undefined {
  const found = new Map<Element, Privacy>();
  for (const way of [path, eventPath.filter(isElement)]) {
    let isMarked = false;
    let isEdited = document.designMode === 'on';
    for (const element of [...way].reverse()) {
      if (hasClass(element, 'ph-no-capture')) return undefined;
      isMarked ||= hasClass(element, 'ph-sensitive');
      isEdited ||= isEditor(element);
      const own = found.get(element) ?? ownPrivacy(element);
      found.set(element, { isPrivate: isMarked || own.isPrivate, isTyped: isEdited || own.isTyped });
    }
  }
  return found;
}
