import type { AutocaptureOptions } from '../client/options.ts';
import { attributeOf, matchesAny, tagOf } from '../page/dom.ts';
import { usefulTags } from './describe-element.ts';

export const clipboardEvents = ['copy', 'cut', 'paste'];
const ignoredByDefault = ['.ph-no-autocapture', '[data-ph-no-autocapture]'];

/** Whether an event on the first element of a path is captured, by what an application chose. */
export function isChosen(type: string, path: Element[], options: AutocaptureOptions): boolean {
  const { url_allowlist, url_ignorelist, dom_event_allowlist, element_allowlist, css_selector_allowlist } = options;
  if (url_allowlist && !isAddressOf(url_allowlist)) return false;
  if (url_ignorelist && isAddressOf(url_ignorelist)) return false;
  const isOfDom = !clipboardEvents.includes(type);
  if (isOfDom && dom_event_allowlist && !(dom_event_allowlist as string[]).includes(type)) return false;
  if (element_allowlist && !path.some((element) => element_allowlist.includes(tagOf(element)))) return false;
  if (css_selector_allowlist && !matchesAny(path, css_selector_allowlist)) return false;
  return !matchesAny(path, options.css_selector_ignorelist ?? ignoredByDefault);
}

const isAddressOf = (patterns: (string | RegExp)[]): boolean =>
  patterns.some((pattern) => new RegExp(pattern).test(location.href));

/** Whether an event means something on the first element of a path: clicks do where a click is expected. */
export function isMeant(type: string, path: Element[]): boolean {
  const [target] = path;
  if (!target) return false;
  const tag = tagOf(target);
  if (tag === 'html') return false;
  if (clipboardEvents.includes(type)) return tag !== 'body';
  if (type === 'click' && tag !== 'form' && isClickable(path)) return true;
  if (tag === 'form') return type === 'submit' || (type === 'click' && hasPointer(target));
  return /^(input|select|textarea)$/.test(tag) && type === 'change';
}

/** The cheap questions first: the style of an element may have to be worked out for an answer. */
function isClickable(path: Element[]): boolean {
  return (
    path.some((element) => usefulTags.includes(tagOf(element))) ||
    (path[0] && attributeOf(path[0], 'contenteditable') === 'true') ||
    path.some(hasPointer)
  );
}

const hasPointer = (element: Element): boolean => getComputedStyle(element).cursor === 'pointer';
