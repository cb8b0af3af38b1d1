import type { Properties } from '../client/values.ts';
import { readableText } from './sensitive-value.ts';

const unreadable = '.ph-sensitive,.ph-no-capture,[contenteditable]:not([contenteditable=false])';

/** What is sent of a copy, cut or paste; nothing when it must not be told. What is pasted is never read. */
export function clipboardProperties($copy_type: string, canRead: boolean): Properties | undefined {
  if ($copy_type === 'paste') return { $copy_type };
  const selection = getSelection();
  const isPrivate = (element: Element) => selection?.containsNode(element, true);
  if (!canRead || [...document.querySelectorAll(unreadable)].some(isPrivate)) return undefined;
  const text = String(selection ?? '');
  const $selected_content = readableText(text);
  return $selected_content ? { $selected_content, $clipboard_text_length: text.length, $copy_type } : undefined;
}
