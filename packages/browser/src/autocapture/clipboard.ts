import type { Properties } from '../client/values.ts';
import type { Privacy } from './privacy.ts';
import { readableText } from './sensitive-value.ts';

const unreadable = '.ph-sensitive,.ph-no-capture,[contenteditable]:not([contenteditable=false])';

/** What is sent of a copy, cut or paste; undefined when it must not be told. What is pasted is never read. */
export function clipboardProperties(
  type: string,
  privacy: Privacy | undefined,
  isTextMasked: boolean,
): Properties | undefined {
  if (type === 'paste') return { $copy_type: type };
  const selection = getSelection();
  if (!selection || isTextMasked || privacy?.isPrivate || privacy?.isTyped) return undefined;
  if ([...document.querySelectorAll(unreadable)].some((element) => selection.containsNode(element, true)))
    return undefined;
  const text = selection.toString();
  const content = readableText(text);
  return content ? { $selected_content: content, $clipboard_text_length: text.length, $copy_type: type } : undefined;
}
