// Returns whether the window is wide enough to show details next to a list.

import { useSyncExternalStore } from 'react';

/** Matches windows that are wide enough to show the details of a row next to the list. */
const wide = matchMedia('(min-width: 1400px)');

const watch = (watcher: () => void) => {
  wide.addEventListener('change', watcher);
  return () => wide.removeEventListener('change', watcher);
};

export const useIsWide = (): boolean => useSyncExternalStore(watch, () => wide.matches);
