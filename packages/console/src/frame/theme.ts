// The console's light and dark themes. Each browser stores the chosen theme.

import { useSyncExternalStore } from 'react';

export type Theme = 'system' | 'light' | 'dark';

/** Storage key of the theme. The script first-paint.js also reads the theme, before the page is rendered. */
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
    // If storage is not available, the theme lasts until the page is reloaded.
  }
  for (const watcher of watchers) watcher();
}

export const useTheme = () =>
  useSyncExternalStore((watcher) => {
    watchers.add(watcher);
    return () => watchers.delete(watcher);
  }, read);
