import type { Core } from '../client/core.ts';
import type { Properties } from '../client/values.ts';
import { clipboardEvents, isChosen, isMeant } from './capture-rules.ts';
import { clipboardProperties } from './clipboard.ts';
import { hasClass, isElement, matchesAny, pathOf } from './dom.ts';
import { eventProperties } from './event-properties.ts';
import { privacyOf } from './privacy.ts';
import { createRageClick } from './rage-click.ts';

/** Captures what an event of the document says, if it is one to capture. */
export function createEventCapture(core: Core): (event: Event, withElements: boolean) => void {
  const { options } = core;
  const isRageClick = createRageClick();

  return (event, withElements) => {
    const chosen = typeof options.autocapture === 'object' ? options.autocapture : {};
    const isRage = event.type === 'click' && !!options.rageclick && isRageClick(event as MouseEvent);
    const isClipboard = clipboardEvents.includes(event.type);
    if (isClipboard && !chosen.capture_copied_text) return;

    const eventPath = nodesOf(event);
    const path = pathOf(eventPath[0]);
    const [target] = path;
    const allowed = isClipboard ? { ...chosen, dom_event_allowlist: undefined } : chosen;
    if (!target || !isChosen(event.type, path, allowed) || !isMeant(event.type, path)) return;
    if ([...path, ...eventPath.filter(isElement)].some((element) => hasClass(element, 'ph-no-capture'))) return;

    const privacy = privacyOf(path, eventPath);
    const copied = isClipboard ? clipboardProperties(event.type, privacy.get(target), options.mask_all_text) : {};
    if (!copied) return;
    const properties: Properties = {
      ...eventProperties(path, privacy, {
        type: event.type,
        withElements,
        isTextMasked: options.mask_all_text,
        areAttributesMasked: options.mask_all_element_attributes,
        ignoredAttributes: chosen.element_attribute_ignorelist ?? [],
      }),
      ...copied,
    };
    if (isRage && !matchesAny(path, ignoredForRage(options.rageclick))) core.capture('$rageclick', properties);
    core.capture(isClipboard ? '$copy_autocapture' : '$autocapture', properties);
  };
}

/** The way of an event, from the innermost node. By the browser's own method: the page may have put another on the event. */
const nodesOf = (event: Event): Node[] =>
  Event.prototype.composedPath.call(event).filter((node) => node !== window) as Node[];

const ignoredForRage = (rageclick: Core['options']['rageclick']): string[] =>
  (typeof rageclick === 'object' && rageclick.css_selector_ignorelist) || ['.ph-no-rageclick', '.ph-no-capture'];
