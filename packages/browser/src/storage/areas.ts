import type { Options } from '../client/client.ts';
import { attempt, page } from '../page/globals.ts';

/** Where text is kept by name; never throws. */
export interface Area {
  read(name: string): string | null;
  write(name: string, value: string): void;
  remove(name: string): void;
}

const known: { localStorage?: Storage | null; sessionStorage?: Storage | null } = {};

/** Null where the browser blocks or lacks it, or it takes nothing (full, private mode). Tried once: it takes milliseconds. */
export function webStorage(kind: 'localStorage' | 'sessionStorage'): Storage | null {
  if (known[kind] === undefined) {
    const storage = attempt(() => page?.[kind]) ?? null;
    known[kind] = storage && doesKeep(storageArea(storage)) ? storage : null;
  }
  return known[kind];
}

export function doesKeep(area: Area): boolean {
  area.write('mr_probe', '1');
  const isKept = area.read('mr_probe') !== null;
  if (isKept) area.remove('mr_probe');
  return isKept;
}

/** Memory where there is no storage. */
export function storageArea(storage: Storage | null): Area {
  if (!storage) return memoryArea();
  return {
    read: (name) => attempt(() => storage.getItem(name)) ?? null,
    write: (name, value) => attempt(() => storage.setItem(name, value)),
    remove: (name) => attempt(() => storage.removeItem(name)),
  };
}

export function memoryArea(): Area {
  const kept: Record<string, string> = {};
  return {
    read: (name) => kept[name] ?? null,
    write(name, value) {
      kept[name] = value;
    },
    remove: (name) => void delete kept[name],
  };
}

/** What a tab keeps over reloads, unless nothing may be kept. */
export function tabArea(persistence: Options['persistence']): Area {
  return persistence === 'memory' ? memoryArea() : storageArea(webStorage('sessionStorage'));
}
