import { type ReadElement, readElement } from './read-element.ts';

const secretName =
  /^cc|cardnum|ccnum|creditcard|csc|cvc|cvv|exp|pass|pwd|routing|seccode|securitycode|securitynum|socialsec|socsec|ssn/i;

/** Whether its own type, name or id says that nobody else is to read it. `ph-include` says otherwise. */
function isSecret({ tag, classes, attributes: { type = '', name, id } }: ReadElement): boolean {
  if (classes.includes('ph-include')) return false;
  if (tag === 'input' && /^(hidden|password)$/i.test(type)) return true;
  return secretName.test((name || id || '').replace(/[^a-z0-9]/gi, ''));
}

const isEditor = ({ attributes: { contenteditable = 'false' } }: ReadElement): boolean =>
  /^(true|plaintext-only|)$/i.test(contenteditable);

/** Whether a visitor types into it or chooses from it. The `value` of a button is the page's. */
function isField(read: ReadElement): boolean {
  const { tag, attributes } = read;
  if (tag === 'input') return !/^(button|checkbox|submit|reset)$/i.test(attributes.type ?? '');
  return /^(select|textarea|option|optgroup)$/.test(tag) || isEditor(read);
}

export interface Privacy {
  /** Secret by itself, or under a marker: no text, nor what the page gives for capture. */
  isPrivate: boolean;
  /** A field, or within an editor: its text and most of its attributes may have been typed. */
  isTyped: boolean;
}

export const isReadable = ({ isPrivate, isTyped }: Privacy): boolean => !isPrivate && !isTyped;

const isMarked = ({ classes }: ReadElement): boolean =>
  classes.includes('ph-sensitive') || classes.includes('ph-no-capture');

/** An element of the way up from the target, and what may be read of it. */
export interface Part extends ReadElement, Privacy {}

/**
 * The parts of a path. `around` are elements that are around it in another way: the document, and those of the shadow
 * trees that show it in a slot.
 */
export function partsOf(path: Element[], around: Element[]): Part[] {
  const outer = around.map(readElement);
  let isWithinMarked = outer.some(isMarked);
  let isWithinEditor = document.designMode === 'on' || outer.some(isEditor);
  const parts = [...path].reverse().map((element): Part => {
    const read = readElement(element);
    isWithinMarked ||= isMarked(read);
    isWithinEditor ||= isEditor(read);
    return { ...read, isPrivate: isWithinMarked || isSecret(read), isTyped: isWithinEditor || isField(read) };
  });
  return parts.reverse();
}

/** By what an element says of itself. */
export const isReadableItself = (element: Element): boolean => partsOf([element], []).every(isReadable);
