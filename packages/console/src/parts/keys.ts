// Keyboard shortcuts of pages. Users can turn them off.

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

/**
 * Returns whether single-key shortcuts are on. Users can turn them off, because dictation software and assistive
 * devices may enter characters unintentionally.
 */
export const areShortcutsOn = () => areOn;

export function saveShortcutsOn(isOn: boolean): void {
  areOn = isOn;
  try {
    localStorage.setItem(storageKey, isOn ? 'on' : 'off');
  } catch {
    // Without local storage, the setting lasts until the page is reloaded.
  }
}

/** Matches text fields, and elements that handle keys themselves. Shortcuts do not work inside these elements. */
const elsewhere =
  'input:not([type=checkbox], [type=radio]), select, textarea, [contenteditable], [role=dialog], [role=menu], [role=combobox]';

/**
 * Adds keyboard shortcuts to a page, by `event.key`. They work everywhere except in fields, dialogs and menus. The
 * shortcut for the space bar does not work while the focus is on an element, such as a button, that uses the space bar
 * itself.
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
      // Shortcuts are case-insensitive, so that they also work with Caps Lock.
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

/**
 * Returns the shortcuts `j` and `k`, which move the focus to the next or previous row. If no row has the focus, both
 * move it to the first row.
 */
export function createRowShortcuts(panel: { readonly current: HTMLElement | null }): Keys {
  const step = (by: number) => {
    const rows = [...(panel.current?.querySelectorAll<HTMLElement>('[data-row]') ?? [])];
    const at = rows.indexOf(document.activeElement as HTMLElement);
    rows[Math.max(0, Math.min(rows.length - 1, at + by))]?.focus();
  };
  return { j: () => step(1), k: () => step(-1) };
}
