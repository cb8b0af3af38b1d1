import { useSyncExternalStore } from 'react';

/** Wide enough for the details of a row next to a list that keeps all of its columns. */
const wide = matchMedia('(min-width: 1400px)');

const watch = (watcher: () => void) => {
  wide.addEventListener('change', watcher);
  return () => wide.removeEventListener('change', watcher);
};

export const useIsWide = (): boolean => useSyncExternalStore(watch, () => wide.matches);
