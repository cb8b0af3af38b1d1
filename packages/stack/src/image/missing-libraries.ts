import { basename } from 'node:path';
import { readElf } from './elf.ts';
import type { Tree } from './tree.ts';

export interface MissingLibrary {
  library: string;
  /** The path of a file that asks for it. */
  askedForBy: string;
}

/**
 * Libraries that programs, add-ons or other libraries of the image ask for and that are not in it. What a program asks for
 * is not all of it: an add-on that it loads later has needs of its own.
 */
export function missingLibraries(tree: Tree): MissingLibrary[] {
  const present = new Set([...tree.keys()].map((path) => basename(path)));
  const missing = new Map<string, string>();
  for (const [path, entry] of tree) {
    const elf = entry.kind === 'file' ? readElf(entry.content) : null;
    for (const library of elf?.needed ?? []) if (!present.has(library)) missing.set(library, path);
  }
  return [...missing].map(([library, askedForBy]) => ({ library, askedForBy }));
}
