// The console's light and dark themes. The chosen theme is stored in the browser.

import { useSyncExternalStore } from 'react';

export type Theme = 'system' | 'light' | 'dark';

/** Local storage key. `first-paint.js` reads the same key before the page is rendered. */
const key = 'millrace-theme';
const watchers = new Set<() => void>();

function read(): Theme {
  const chosen = document.documentElement.dataset.theme;
  return chosen === 'light' || chosen === 'dark' ? chosen : 'system';
}

export function setTheme(theme: Theme): void {
  if (theme === 'system') delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = theme;
  try {
    localStorage.setItem(key, theme);
  } catch {
    // Without local storage, the theme lasts until the page is reloaded.
  }
  for (const watcher of watchers) watcher();
}

export const useTheme = () =>
  useSyncExternalStore((watcher) => {
    watchers.add(watcher);
    return () => watchers.delete(watcher);
  }, read);
