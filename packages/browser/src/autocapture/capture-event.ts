import type { Core } from '../client/core.ts';
import { isElement, matchesAny, pathOf } from '../page/dom.ts';
import { clipboardEvents, isChosen, isMeant } from './capture-rules.ts';
import { clipboardProperties } from './clipboard.ts';
import { isReadable, partsOf } from './privacy.ts';
import { createRageClick } from './rage-click.ts';
import { readEvent } from './read-event.ts';

/** Captures what an event of the document says, if it is one to capture. */
export function createEventCapture({ options, captureSoon }: Core): (event: Event, withElements: boolean) => void {
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
    const read = readEvent({ type, parts, masks, withElements });
    const properties = () => ({ ...read(), ...copied });
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
