import { attempt, page } from '../page/globals.ts';

/** Where text is kept by name; neither throws. */
export interface Area {
  read(name: string): string | null;
  write(name: string, value: string): void;
  remove(name: string): void;
}

/** Undefined where the browser blocks or lacks it, or it takes nothing (full, private mode). */
export function webStorage(kind: 'localStorage' | 'sessionStorage'): Storage | undefined {
  return attempt(() => {
    const storage = page?.[kind];
    storage?.setItem('__mr_probe', '1');
    storage?.removeItem('__mr_probe');
    return storage;
  });
}

export function storageArea(storage: Storage): Area {
  return {
    read: (name) => attempt(() => storage.getItem(name)) ?? null,
    write: (name, value) => void attempt(() => storage.setItem(name, value)),
    remove: (name) => void attempt(() => storage.removeItem(name)),
  };
}

export function memoryArea(): Area {
  const kept = new Map<string, string>();
  return {
    read: (name) => kept.get(name) ?? null,
    write: (name, value) => void kept.set(name, value),
    remove: (name) => void kept.delete(name),
  };
}
