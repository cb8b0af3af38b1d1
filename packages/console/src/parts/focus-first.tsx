import { type RefObject, useEffect } from 'react';

const fields =
  'input:not([type=radio], [type=checkbox], [type=hidden], [type=file], [readonly], :disabled), select:not(:disabled), textarea:not([readonly])';

/** Moves the focus to the first field in an element. @returns whether the element contains a field */
export function focusFirst(box: HTMLElement | null): boolean {
  const field = [...(box?.querySelectorAll<HTMLElement>(fields) ?? [])].find((one) => one.checkVisibility());
  field?.focus();
  return field !== undefined;
}

/** Moves the focus to a form's first field when the form opens, so that the user can start typing. */
export function FocusFirst({ inside }: { inside: RefObject<HTMLElement | null> }) {
  useEffect(() => void focusFirst(inside.current), [inside]);
  return null;
}
