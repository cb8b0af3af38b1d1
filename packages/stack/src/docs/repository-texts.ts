import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type SourceFile, sourceFiles } from './source-files.ts';

/** What the checks of the documents look at. */
export interface RepositoryTexts {
  /** The documents for readers: those at the top, in `docs/` and in `deploy/`. */
  pages: SourceFile[];
  /** Everything else that can cite a document. */
  sources: SourceFile[];
}

const folders = ['packages', 'services', 'test-e2e', 'prisma', 'deploy'];
const endings = ['.ts', '.mjs', '.cjs', '.sql', '.prisma', '.json', '.jsonc', '.sh', '.py', '.go', '.rs'];
/** Writes and tries documents, so that it names some from their own place, and some that are not there. */
const ownRoom = 'packages/stack/src/docs/';

export async function repositoryTexts(root: string): Promise<RepositoryTexts> {
  const [pagesAtTheTop, docs, settingsAtTheTop, sources] = await Promise.all([
    filesAtTheTop(root, ['.md']),
    sourceFiles(root, ['docs', 'deploy'], ['.md']),
    filesAtTheTop(root, endings),
    sourceFiles(root, folders, endings),
  ]);
  return {
    pages: [...pagesAtTheTop, ...docs],
    sources: [...settingsAtTheTop, ...sources.filter(({ path }) => !path.startsWith(ownRoom))],
  };
}

async function filesAtTheTop(root: string, wanted: readonly string[]): Promise<SourceFile[]> {
  const names = (await readdir(root)).filter((name) => wanted.some((ending) => name.endsWith(ending)));
  return Promise.all(names.map(async (path) => ({ path, text: await readFile(join(root, path), 'utf8') })));
}
