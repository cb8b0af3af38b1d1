// Detects whether the window is wide enough to show details next to a list.

import { useSyncExternalStore } from 'react';

const wide = matchMedia('(min-width: 1400px)');

const watch = (watcher: () => void) => {
  wide.addEventListener('change', watcher);
  return () => wide.removeEventListener('change', watcher);
};

export const useIsWide = (): boolean => useSyncExternalStore(watch, () => wide.matches);
