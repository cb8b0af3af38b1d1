// Stores in the browser which pages and records the user recently opened with the command palette.

import type { PaletteEntry } from './targets.ts';

const storageKey = 'millrace-recent';
const mostRecent = 6;

export const readRecent = (projectId: number): PaletteEntry[] =>
  readAll()
    .filter(({ to }) => to.startsWith(`/projects/${projectId}/`))
    .slice(0, mostRecent);

/**
 * Stores an opened page or record. Persons are not stored, because their names are personal data, which must not remain
 * in the browser after the user signs out.
 */
export function keepRecent(entry: PaletteEntry): void {
  if (/^(person|project|action) /.test(entry.key)) return;
  const others = readAll().filter(({ key, to }) => key !== entry.key || to !== entry.to);
  try {
    localStorage.setItem(storageKey, JSON.stringify([entry, ...others].slice(0, mostRecent * 4)));
  } catch {
    // Reads the stored entries. Without local storage, nothing is stored.
  }
}

function readAll(): PaletteEntry[] {
  try {
    const stored: unknown = JSON.parse(localStorage.getItem(storageKey) ?? '[]');
    return Array.isArray(stored) ? (stored as PaletteEntry[]) : [];
  } catch {
    return [];
  }
}
