import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

/**
 * The exports of one source file of the repository, by its path. For what documents are made of: packages import no
 * services, and so these stay unknown to the compiler.
 */
export async function importSource(root: string, path: string): Promise<Record<string, unknown>> {
  return import(pathToFileURL(join(root, path)).href);
}
