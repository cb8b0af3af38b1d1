import { type RefObject, useEffect } from 'react';

const fields =
  'input:not([type=radio], [type=checkbox], [type=hidden], [type=file], [readonly], :disabled), select:not(:disabled), textarea:not([readonly])';

/** Moves the focus to the first field in a box. @returns whether the box contains a field */
export function focusFirst(box: HTMLElement | null): boolean {
  const field = [...(box?.querySelectorAll<HTMLElement>(fields) ?? [])].find((one) => one.checkVisibility());
  field?.focus();
  return field !== undefined;
}

/** Moves the focus to the first field of a form when it opens, so that the user can start typing. */
export function FocusFirst({ inside }: { inside: RefObject<HTMLElement | null> }) {
  useEffect(() => void focusFirst(inside.current), [inside]);
  return null;
}
