// Which events of a page are captured, by the options, the settings and what they mean.

import type { Core, Feature } from '../client/core.ts';
import type { AutocaptureOptions } from '../client/options.ts';
import type { Properties } from '../client/values.ts';
import { attributeOf, isElement, matchesAny, pathOf, tagOf } from '../page/dom.ts';
import { ofDocument, onDocument, stopSignal } from '../page/globals.ts';
import { readEvent, usefulTags } from './describe.ts';
import { isReadable, partsOf, readableText } from './privacy.ts';

const switchedOff = '$autocapture_disabled_server_side';

/** Captures clicks, changes and submits, from when the environment's settings are known and do not say otherwise. */
export const createAutocapture: Feature = (core) => {
  const signal = stopSignal(core);
  const captureEvent = createEventCapture(core);
  let isOff = true;
  let withElements = true;

  const listen = (event: Event) => {
    try {
      if (core.options.autocapture && !isOff) captureEvent(event, withElements);
    } catch (error) {
      core.log.error('autocapture', error);
    }
  };

  core.signals.on('remoteConfig', (config) => {
    withElements &&= !config?.elementsChainAsString;
    isOff = isSwitchedOff(core, config?.autocapture_opt_out);
    // Adding the same listener again changes nothing.
    for (const type of ['click', 'change', 'submit', ...clipboardEvents]) {
      onDocument(type, listen, { capture: true, signal });
    }
  });
  return undefined;
};

/** As the service said last; where it was never heard, only an application that does not ask it gets autocapture. */
function isSwitchedOff({ store, options }: Core, answer: boolean | undefined): boolean {
  const known = store.get(switchedOff);
  if (answer === undefined) return typeof known === 'boolean' ? known : !options.advanced_disable_flags;
  if (answer !== known) store.set({ [switchedOff]: answer });
  return answer;
}

/** Captures what an event of the document says, if it is one to capture. */
function createEventCapture({ options, captureSoon }: Core): (event: Event, withElements: boolean) => void {
  const isRageClick = createRageClick();

  return (event, withElements) => {
    const { type } = event;
    const chosen = typeof options.autocapture === 'object' ? options.autocapture : {};
    const isRage = type === 'click' && options.rageclick && isRageClick(event as MouseEvent);
    const isClipboard = clipboardEvents.includes(type);
    if (isClipboard && !chosen.capture_copied_text) return;

    const eventPath = nodesOf(event);
    const path = pathOf(eventPath[0] as Node);
    if (!isMeant(type, path) || !isChosen(type, path, chosen)) return;
    const around = eventPath.filter(isElement).filter((element) => !path.includes(element));
    if (matchesAny([...path, ...around], ['.ph-no-capture'])) return;
    const parts = partsOf(path, around);
    const canCopy = !options.mask_all_text && parts.slice(0, 1).every(isReadable);
    const copied = isClipboard ? clipboardProperties(type, canCopy) : {};
    if (!copied) return;
    const masks = { ...options, ...chosen };
    const properties = readEvent({ type, parts, masks, withElements, copied });
    if (isRage && !matchesAny(path, calmSelectors(options.rageclick))) captureSoon('$rageclick', properties);
    captureSoon(isClipboard ? '$copy_autocapture' : '$autocapture', properties);
  };
}

/** The way of an event, from the innermost node. By the browser's own method: the page may have put another on the event. */
const nodesOf = (event: Event): Node[] =>
  Event.prototype.composedPath.call(event).filter((node) => node !== window) as Node[];

/** Where several clicks in a row are usual. */
const calmSelectors = (rageclick: Core['options']['rageclick']): string[] =>
  (typeof rageclick === 'object' && rageclick.css_selector_ignorelist) || ['.ph-no-rageclick'];

const clipboardEvents = ['copy', 'cut', 'paste'];
const ignoredByDefault = ['.ph-no-autocapture', '[data-ph-no-autocapture]'];

/** Whether an event on the first element of a path is captured, by what an application chose. */
function isChosen(type: string, path: Element[], options: AutocaptureOptions): boolean {
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
function isMeant(type: string, path: Element[]): boolean {
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

const unreadable = '.ph-sensitive,.ph-no-capture,[contenteditable]:not([contenteditable=false])';

/** What is sent of a copy, cut or paste; nothing when it must not be told. What is pasted is never read. */
function clipboardProperties($copy_type: string, canRead: boolean): Properties | undefined {
  if ($copy_type === 'paste') return { $copy_type };
  const selection = getSelection();
  const isPrivate = (element: Element) => selection?.containsNode(element, true);
  if (!canRead || [...ofDocument('querySelectorAll').call(document, unreadable)].some(isPrivate)) return undefined;
  const text = String(selection ?? '');
  const $selected_content = readableText(text);
  return $selected_content ? { $selected_content, $clipboard_text_length: text.length, $copy_type } : undefined;
}

/** Tells the third of three clicks at one place, each within a second of the one before. */
function createRageClick(): (event: MouseEvent) => boolean {
  let last: [x: number, y: number, time: number] = [0, 0, Number.NEGATIVE_INFINITY];
  let count = 0;
  return ({ clientX, clientY, timeStamp }) => {
    const [x, y, time] = last;
    const isNear = Math.abs(clientX - x) + Math.abs(clientY - y) < 30 && timeStamp - time < 1000;
    last = [clientX, clientY, timeStamp];
    count = isNear ? count + 1 : 1;
    return count === 3;
  };
}
