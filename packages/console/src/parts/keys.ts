import type { KeyboardEvent } from 'react';

/** Keys of a list, by `event.key`: they act only while the focus is in it, and not where something is typed. */
export function pressIn(event: KeyboardEvent<HTMLElement>, keys: Record<string, () => void>): void {
  const target = event.target as HTMLElement;
  // Menus are drawn elsewhere and have keys of their own.
  if (event.ctrlKey || event.metaKey || event.altKey || !event.currentTarget.contains(target)) return;
  if (target.matches('input:not([type=checkbox]), select, textarea')) return;
  // Letters count alike with and without Shift.
  const act = keys[event.key] ?? (event.key.length === 1 ? keys[event.key.toLowerCase()] : undefined);
  if (act === undefined) return;
  event.preventDefault();
  act();
}

/** `j` and `k` go from row to row. */
export function rowKeys(panel: HTMLElement | null): Record<string, () => void> {
  const step = (by: number) => {
    const rows = [...(panel?.querySelectorAll<HTMLElement>('[data-row]') ?? [])];
    const at = rows.indexOf(document.activeElement as HTMLElement);
    rows[Math.max(0, Math.min(rows.length - 1, at + by))]?.focus();
  };
  return { j: () => step(1), k: () => step(-1) };
}
