import { readFileSync } from 'node:fs';

/**
 * What a file says, read again at every call: Kubernetes exchanges the files of a secret in place. In a moment in which the
 * file is missing or empty it is what it said last.
 */
export function followFile(file: string, first: string): () => string {
  let last = first;
  return () => {
    try {
      last = readFileSync(file, 'utf8').trim() || last;
    } catch {
      // Being exchanged. What cannot be read for longer shows when a server no longer takes what it said last.
    }
    return last;
  };
}
