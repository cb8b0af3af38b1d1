// Detects data that must not leave the page: secret elements, field contents, payment card numbers and social security
// numbers.

import {
  findParent,
  findRoot,
  listChildren,
  readAttributes,
  readTag,
  selectElements,
  shadowRoot,
  textContent,
} from '../page/dom.ts';
import { attempt, page } from '../page/globals.ts';

const secretName =
  /^cc|cardnum|ccnum|creditcard|csc|cvc|cvv|exp|pass|pwd|routing|seccode|securitycode|securitynum|socialsec|socsec|ssn/i;

/** Returns whether the type, name or id of the element marks it as secret. The class `ph-include` overrides this. */
function isSecret({ tag, classes, attributes: { type = '', name, id } }: ReadElement): boolean {
  if (classes.includes('ph-include')) return false;
  if (tag === 'input' && /^(hidden|password)$/i.test(type)) return true;
  return secretName.test((name || id || '').replace(/[^a-z0-9]/gi, ''));
}

const isEditor = ({ attributes: { contenteditable = 'false', role = '' } }: ReadElement): boolean =>
  /^(true|plaintext-only|)$/i.test(contenteditable) ||
  /\b(textbox|searchbox|combobox|listbox|option|spinbutton|slider)\b/i.test(role);

const isContentEditable = page && Object.getOwnPropertyDescriptor(HTMLElement.prototype, 'isContentEditable')?.get;

/** Returns whether visitors can edit the element because of its style, its document, or an `EditContext`. */
function isEdited(element: Element & { editContext?: unknown }): boolean {
  const isEditor = attempt(() => isContentEditable?.call(element) || Boolean(element.editContext));
  return (
    isEditor || /write/.test(String(attempt(() => getComputedStyle(element).getPropertyValue('-webkit-user-modify'))))
  );
}

/**
 * Returns whether a visitor types into the element or selects a value in it. The `value` of a button does not count,
 * because the page sets it.
 */
function isField(read: ReadElement): boolean {
  const { tag, attributes } = read;
  if (tag === 'input') return !/^(button|checkbox|submit|reset)$/i.test(attributes.type ?? '');
  return /^(select|textarea|option|optgroup)$/.test(tag) || isEditor(read);
}

export interface Privacy {
  /**
   * Whether the element is secret, or inside an element that is marked as secret. Neither its text nor its capture
   * attributes may be sent.
   */
  isPrivate: boolean;
  /**
   * Whether the element is a field, or inside a field or an editor. Its text and most of its attributes may contain
   * what the visitor typed.
   */
  isTyped: boolean;
}

export const isReadable = ({ isPrivate, isTyped }: Privacy): boolean => !isPrivate && !isTyped;

const isMarked = ({ classes }: ReadElement): boolean =>
  classes.includes('ph-sensitive') || classes.includes('ph-no-capture');

/** An element between the event target and the root, and whether it may be read. */
export interface PathElement extends ReadElement, Privacy {}

/**
 * Reads the elements of a path.
 * @param around the elements outside the path that surround elements of the path: the document element, and the shadow
 * tree elements whose slots display the path
 */
export function readPathElements(path: Element[], around: Element[]): PathElement[] {
  const outer = around.map(readElement);
  let isWithinMarked = outer.some(isMarked);
  let isTyped = outer.some(isField);
  const parts = [...path].reverse().map((element): PathElement => {
    const read = readElement(element);
    isWithinMarked ||= isMarked(read);
    isTyped ||= isField(read) || isEdited(element);
    return { ...read, isPrivate: isWithinMarked || isSecret(read), isTyped };
  });
  return parts.reverse();
}

/** Returns whether an element's own attributes allow reading it. Ignores the elements around it. */
export function isReadableItself(element: Element): boolean {
  const read = readElement(element);
  return !isMarked(read) && !isSecret(read) && !isField(read);
}

/**
 * Returns whether a text repeats the content of a field. `at` is the index of the path element that contains the text.
 * The rule for element names is more lenient, because the page usually chooses them.
 */
type Repeats = (text: string, at: number, isName?: boolean) => boolean;

const places = 'input,textarea,select,[contenteditable]:not([contenteditable=false]),[role~=textbox],[role~=searchbox]';

/**
 * Returns a function that tests whether a text repeats a field's content. Reads all fields immediately, but compares
 * texts only when an event is sent.
 */
export function createRepetitionTest(parts: PathElement[]): Repeats {
  const path = parts.map(({ element }) => element);
  const forms: unknown[] = parts.map(({ tag, element }) => (tag === 'form' ? element : attempt(() => formOf(element))));
  const held = placesIn(path).flatMap((place) => {
    const { type } = place as HTMLInputElement;
    const isField = /^(input|select|textarea)$/.test(readTag(place));
    // Hide the field's content in all path elements from this index on. The index is 0 if the path contains the field's
    // form. Otherwise, it is the index of the first path element that contains the field.
    let from = isField && forms.includes(formOf(place) ?? -1) ? 0 : -1;
    for (let at: Element | null = place; at && from < 0; at = findParent(at)) from = path.indexOf(at);
    const isTyped = !isField || !/^(select|radio|hidden|range|color|file)/.test(type);
    return (isField ? textsOfField(place, type) : textsOfEditor(place)).map((text) => {
      // Hide typed content in all path elements, unless it is short. If a visitor types `2`, for example, a `2`
      // elsewhere on the page is probably not a repetition.
      const isWide = isTyped && (text.length > 3 || (text && isSecret(readElement(place))));
      return { text, from: isWide ? 0 : from };
    });
  });
  let wanted: { from: number; own: string; letters: string }[] | undefined;

  return (text, at, isName) => {
    wanted ??= held.map(({ text, from }) => ({ from, ...read(text) })).filter(({ own }) => own);
    if (!wanted.length) return false;
    const normalized = read(text.slice(0, longestRead));
    return wanted.some(({ from, own, letters }) => {
      if (at < from) return false;
      // Also hide a text that repeats only a substring of the content, such as the beginning of a message.
      if (letters.length > 3)
        return (
          normalized.letters.includes(letters) ||
          (!isName && normalized.letters.length > 7 && letters.includes(normalized.letters))
        );
      if (own.length > 3 || /[^a-z\d]/.test(own)) return normalized.own.includes(own);
      return !(isName && own.length < 3) && [normalized.letters, ...normalized.words].includes(own);
    });
  };
}

/** Returns the fields and editors in the document and in the path's shadow trees. */
function placesIn(path: Element[]): Element[] {
  const roots = path.flatMap((element) => [findRoot(element), shadowRoot.call(element)]);
  return [...new Set(roots)].flatMap((root) => (root ? [...selectElements(root, places)] : []));
}

const formOf = (element: Element): Element | null | undefined => (element as HTMLInputElement).form;

const maxRead = 100_000;

function textsOfField(field: Element, type: string): string[] {
  const { value, checked, files, selectedOptions } = field as HTMLInputElement & HTMLSelectElement;
  if (/^(button|checkbox|submit|reset|image)$/.test(type) || (type === 'radio' && !checked)) return [];
  if (selectedOptions) return [...selectedOptions].flatMap((option) => [option.value, option.text]);
  return [...value.slice(0, maxRead).split('\n'), ...[...(files ?? [])].map(({ name }) => name)];
}

const textsOfEditor = (editor: Element): string[] =>
  [editor, ...listChildren(editor)].map((node) => String(textContent.call(node)).slice(0, maxRead));

/** Normalizes a text for comparison. Case and punctuation are ignored. */
function read(text: string): { own: string; words: string[]; letters: string } {
  const own = plainText(text).trim().toLowerCase();
  const words = own.match(/[\p{L}\p{N}]+/gu) ?? [];
  return { own, words, letters: words.join('') };
}

/** Payment card numbers, recognized by their prefix and length. */
const card = /^([2-6]\d{15}|4\d{12}(\d{6})?|3\d{13,14}|(1800|2131)\d{11}|62\d{15,17})$/;
const socialSecurity = /^\d{3}-?\d{2}-?\d{4}$/;
/** Matches digits in groups with any separator, such as non-breaking spaces, dots, dashes or invisible characters. */
const groupedDigits = /\d+([^\p{L}\d]{1,3}\d+)*/gu;

function isNumber(text: string): boolean {
  const value = text.trim();
  return /^[\d -]+$/.test(value) && (socialSecurity.test(value) || card.test(value.replace(/[- ]/g, '')));
}

/**
 * Returns whether grouped digits contain a sensitive number. A social security number is recognized by the lengths of
 * its groups, and a card number by its check digit.
 */
function haveNumber(digits: string): boolean {
  const groups = digits.split(/\D+/);
  return groups.some((_, at) => {
    let joined = '';
    for (let next = at; joined.length < 19 && next < groups.length; next++) {
      joined += groups[next];
      if (card.test(joined) && isChecked(joined)) return true;
    }
    return /^\d{3},\d{2},\d{4}$/.test(groups.slice(at, at + 3).join());
  });
}

/** Returns whether the check digit is correct (Luhn algorithm). */
function isChecked(digits: string): boolean {
  let sum = 0;
  [...digits].reverse().forEach((digit, at) => {
    sum += (+digit * (1 + (at % 2))) % 9 || +digit;
  });
  return sum % 10 === 0;
}

const longestRead = 5000;

/** Decodes percent-encoding and full-width characters. */
const plainText = (text: string): string =>
  text.replace(/(%[\da-f]{2})+/gi, (bytes) => attempt(() => decodeURIComponent(bytes)) ?? bytes).normalize('NFKC');

/** Returns whether a text contains a sensitive number. */
export function isSensitive(text: string): boolean {
  const plain = plainText(text.slice(0, longestRead));
  return isNumber(plain) || (plain.match(groupedDigits) ?? []).some(haveNumber);
}

/** Returns the text without sensitive numbers, cut to 255 characters. */
export function removeSensitiveNumbers(text: string): string {
  const words = text
    .trimStart()
    .slice(0, longestRead)
    .trimEnd()
    .replace(groupedDigits, (digits) => (isNumber(digits) || haveNumber(digits) ? '' : digits))
    .replace(/\S+/g, (word) => (isNumber(word) ? '' : word))
    .replace(/[\r\n]/g, ' ')
    .replace(/ +/g, ' ')
    .slice(0, 255);
  return isSensitive(words) ? '' : words;
}

/** A snapshot of an element. Each element is read only once, because DOM access is slow. */
interface ReadElement {
  element: Element;
  tag: string;
  attributes: Record<string, string>;
  classes: string[];
}

function readElement(element: Element): ReadElement {
  const attributes = readAttributes(element);
  return { element, tag: readTag(element), attributes, classes: splitWords(attributes.class) };
}

export const splitWords = (text = ''): string[] => text.split(/\s+/).filter(Boolean);
