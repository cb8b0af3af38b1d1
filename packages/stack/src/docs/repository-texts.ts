import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type SourceFile, sourceFiles } from './source-files.ts';

/** What the checks of the documents look at. */
export interface RepositoryTexts {
  /** The documents for readers: those at the top, and `docs/`. */
  pages: SourceFile[];
  /** Everything else that can cite a document. */
  sources: SourceFile[];
}

const pagesAtTheTop = ['README.md', 'ARCHITECTURE.md', 'CONTRIBUTING.md', 'CHANGELOG.md'];
const settingsAtTheTop = ['.dependency-cruiser.cjs', '.knip.mjs', '.biome.jsonc'];
const folders = ['packages', 'services', 'test-e2e', 'prisma', 'deploy'];
/** Writes and tries documents, so that it names some from their own place, and some that are not there. */
const ownRoom = 'packages/stack/src/docs/';
const endings = ['.ts', '.mjs', '.sql', '.prisma', '.json', '.sh', '.py', '.go', '.rs'];

export async function repositoryTexts(root: string): Promise<RepositoryTexts> {
  const read = async (path: string): Promise<SourceFile> => ({ path, text: await readFile(join(root, path), 'utf8') });
  const [top, docs, settings, sources] = await Promise.all([
    Promise.all(pagesAtTheTop.map(read)),
    sourceFiles(root, ['docs'], ['.md']),
    Promise.all(settingsAtTheTop.map(read)),
    sourceFiles(root, folders, endings),
  ]);
  return {
    pages: [...top, ...docs],
    sources: [...settings, ...sources.filter(({ path }) => !path.startsWith(ownRoom))],
  };
}
