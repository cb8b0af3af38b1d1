// Decides which DOM events are captured, based on options and environment settings.

import type { Core, Feature } from '../client/core.ts';
import type { AutocaptureOptions } from '../client/options.ts';
import type { Properties } from '../client/values.ts';
import { isElement, listAncestors, matchesAny, readAttribute, readTag } from '../page/dom.ts';
import { addDocumentListener, createStopSignal, readFromDocument } from '../page/globals.ts';
import { prepareEventProperties, usefulTags } from './describe.ts';
import { isReadable, readPathElements, removeSensitiveNumbers } from './privacy.ts';

const switchedOff = '$autocapture_disabled_server_side';

/**
 * Captures clicks, changes and submits once the environment's settings have been loaded, unless the settings disable
 * this.
 */
export const createAutocapture: Feature = (core) => {
  const signal = createStopSignal(core);
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
    // Calling `addEventListener` again with the same listener has no effect.
    for (const type of ['click', 'change', 'submit', ...clipboardEvents]) {
      addDocumentListener(type, listen, { capture: true, signal });
    }
  });
  return undefined;
};

/**
 * Returns whether autocapture is off in the last settings that the service sent. If the service has never sent
 * settings, autocapture is on only if the application has disabled settings requests.
 */
function isSwitchedOff({ store, options }: Core, received: boolean | undefined): boolean {
  const known = store.get(switchedOff);
  if (received === undefined) return typeof known === 'boolean' ? known : !options.advanced_disable_flags;
  if (received !== known) store.set({ [switchedOff]: received });
  return received;
}

function createEventCapture({ options, captureSoon }: Core): (event: Event, withElements: boolean) => void {
  const isRageClick = createRageClick();

  return (event, withElements) => {
    const { type } = event;
    const chosen = typeof options.autocapture === 'object' ? options.autocapture : {};
    const isRage = type === 'click' && options.rageclick && isRageClick(event as MouseEvent);
    const isClipboard = clipboardEvents.includes(type);
    if (isClipboard && !chosen.capture_copied_text) return;

    const eventPath = nodesOf(event);
    const path = listAncestors(eventPath[0] as Node);
    if (!isMeant(type, path) || !isChosen(type, path, chosen)) return;
    const around = eventPath.filter(isElement).filter((element) => !path.includes(element));
    if (matchesAny([...path, ...around], ['.ph-no-capture'])) return;
    const parts = readPathElements(path, around);
    const canCopy = !options.mask_all_text && parts.slice(0, 1).every(isReadable);
    const copied = isClipboard ? clipboardProperties(type, canCopy) : {};
    if (!copied) return;
    const masks = { ...options, ...chosen };
    const properties = prepareEventProperties({ type, parts, masks, withElements, copied });
    if (isRage && !matchesAny(path, calmSelectors(options.rageclick))) captureSoon('$rageclick', properties);
    captureSoon(isClipboard ? '$copy_autocapture' : '$autocapture', properties);
  };
}

/**
 * Returns the nodes on the event's path, innermost first. Calls the browser's own `composedPath`, because the page may
 * have replaced the event's method.
 */
const nodesOf = (event: Event): Node[] =>
  Event.prototype.composedPath.call(event).filter((node) => node !== window) as Node[];

/** Returns selectors of elements where repeated clicks are normal, and therefore are not rage clicks. */
const calmSelectors = (rageclick: Core['options']['rageclick']): string[] =>
  (typeof rageclick === 'object' && rageclick.css_selector_ignorelist) || ['.ph-no-rageclick'];

const clipboardEvents = ['copy', 'cut', 'paste'];
const ignoredByDefault = ['.ph-no-autocapture', '[data-ph-no-autocapture]'];

/**
 * Returns whether the application's options allow capturing the event. The event target is the first element of `path`.
 */
function isChosen(type: string, path: Element[], options: AutocaptureOptions): boolean {
  const { url_allowlist, url_ignorelist, dom_event_allowlist, element_allowlist, css_selector_allowlist } = options;
  if (url_allowlist && !isAddressOf(url_allowlist)) return false;
  if (url_ignorelist && isAddressOf(url_ignorelist)) return false;
  const isOfDom = !clipboardEvents.includes(type);
  if (isOfDom && dom_event_allowlist && !(dom_event_allowlist as string[]).includes(type)) return false;
  if (element_allowlist && !path.some((element) => element_allowlist.includes(readTag(element)))) return false;
  if (css_selector_allowlist && !matchesAny(path, css_selector_allowlist)) return false;
  return !matchesAny(path, options.css_selector_ignorelist ?? ignoredByDefault);
}

const isAddressOf = (patterns: (string | RegExp)[]): boolean =>
  patterns.some((pattern) => new RegExp(pattern).test(location.href));

/**
 * Returns whether an event is worth capturing. For example, a click is captured only on an element that visitors are
 * expected to click.
 */
function isMeant(type: string, path: Element[]): boolean {
  const [target] = path;
  if (!target) return false;
  const tag = readTag(target);
  if (tag === 'html') return false;
  if (clipboardEvents.includes(type)) return tag !== 'body';
  if (type === 'click' && tag !== 'form' && isClickable(path)) return true;
  if (tag === 'form') return type === 'submit' || (type === 'click' && hasPointer(target));
  return /^(input|select|textarea)$/.test(tag) && type === 'change';
}

/** Cheap checks come first, because the browser may have to compute styles for the last one. */
function isClickable(path: Element[]): boolean {
  return (
    path.some((element) => usefulTags.includes(readTag(element))) ||
    (path[0] && readAttribute(path[0], 'contenteditable') === 'true') ||
    path.some(hasPointer)
  );
}

const hasPointer = (element: Element): boolean => getComputedStyle(element).cursor === 'pointer';

const unreadable = '.ph-sensitive,.ph-no-capture,[contenteditable]:not([contenteditable=false])';

/**
 * Returns the properties of a copy, cut or paste event, or undefined if the event must not be captured. Never reads
 * pasted text.
 */
function clipboardProperties($copy_type: string, canRead: boolean): Properties | undefined {
  if ($copy_type === 'paste') return { $copy_type };
  const selection = getSelection();
  const isPrivate = (element: Element) => selection?.containsNode(element, true);
  if (!canRead || [...readFromDocument('querySelectorAll').call(document, unreadable)].some(isPrivate))
    return undefined;
  const text = String(selection ?? '');
  const $selected_content = removeSensitiveNumbers(text);
  return $selected_content ? { $selected_content, $clipboard_text_length: text.length, $copy_type } : undefined;
}

/** Returns a function that detects three nearby clicks, each within a second of the previous click. */
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
