import { useEffect, useRef } from 'react';

type Keys = Record<string, () => void>;

const storageKey = 'millrace-shortcuts';

function read(): boolean {
  try {
    return localStorage.getItem(storageKey) !== 'off';
  } catch {
    return true;
  }
}

let areOn = read();

/** Single keys can be turned off: programs for dictation and some aids for motor impairments send letters at any time. */
export const shortcutsAreOn = () => areOn;

export function turnShortcuts(isOn: boolean): void {
  areOn = isOn;
  try {
    localStorage.setItem(storageKey, isOn ? 'on' : 'off');
  } catch {
    // Holds until the page is left.
  }
}

/** Fields in which letters are typed, and parts of the page with keys of their own. */
const elsewhere =
  'input:not([type=checkbox], [type=radio]), select, textarea, [contenteditable], [role=dialog], [role=menu], [role=combobox]';

/**
 * Keys of a page, by `event.key`. They act wherever the focus is, except in a field, a dialog or a menu. Space acts only if the element with
 * the focus has no use for it.
 */
export function usePageKeys(keys: Keys): void {
  const latest = useRef(keys);
  useEffect(() => {
    latest.current = keys;
  });
  useEffect(() => {
    const press = (event: KeyboardEvent) => {
      const target = event.target instanceof HTMLElement ? event.target : document.body;
      if (!areOn || event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey) return;
      if (target.closest(elsewhere) || (event.key === ' ' && target.tabIndex >= 0)) return;
      // Letters count alike with and without Shift.
      const key = event.key.length === 1 ? event.key.toLowerCase() : event.key;
      const act = latest.current[key];
      if (act === undefined) return;
      event.preventDefault();
      act();
    };
    document.addEventListener('keydown', press);
    return () => document.removeEventListener('keydown', press);
  }, []);
}

/** `j` and `k` go from row to row, the first time to the first one. */
export function rowKeys(panel: { readonly current: HTMLElement | null }): Keys {
  const step = (by: number) => {
    const rows = [...(panel.current?.querySelectorAll<HTMLElement>('[data-row]') ?? [])];
    const at = rows.indexOf(document.activeElement as HTMLElement);
    rows[Math.max(0, Math.min(rows.length - 1, at + by))]?.focus();
  };
  return { j: () => step(1), k: () => step(-1) };
}
