import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';

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
const ownFolder = 'packages/stack/src/docs/';

export async function repositoryTexts(root: string): Promise<RepositoryTexts> {
  const [pagesAtTheTop, docs, settingsAtTheTop, sources] = await Promise.all([
    filesAtTheTop(root, ['.md']),
    sourceFiles(root, ['docs', 'deploy'], ['.md']),
    filesAtTheTop(root, endings),
    sourceFiles(root, folders, endings),
  ]);
  return {
    pages: [...pagesAtTheTop, ...docs],
    sources: [...settingsAtTheTop, ...sources.filter(({ path }) => !path.startsWith(ownFolder))],
  };
}

async function filesAtTheTop(root: string, wanted: readonly string[]): Promise<SourceFile[]> {
  const names = (await readdir(root)).filter((name) => wanted.some((ending) => name.endsWith(ending)));
  return Promise.all(names.map(async (path) => ({ path, text: await readFile(join(root, path), 'utf8') })));
}

export interface SourceFile {
  /** Relative to the repository, with slashes. */
  path: string;
  text: string;
}

const leftOut = new Set(['node_modules', 'dist', 'generated', '.millrace', '.git', 'coverage']);

/** The files below some folders, or files themselves, whose names end so; in the order of their paths. */
export async function sourceFiles(root: string, folders: string[], endings: string[]): Promise<SourceFile[]> {
  const files: SourceFile[] = [];
  for (const folder of folders) {
    for (const entry of await readdir(join(root, folder), { withFileTypes: true })) {
      const path = folder === '' ? entry.name : `${folder}/${entry.name}`;
      if (entry.isDirectory()) {
        if (!leftOut.has(entry.name)) files.push(...(await sourceFiles(root, [path], endings)));
      } else if (endings.some((ending) => entry.name.endsWith(ending))) {
        files.push({ path, text: await readFile(join(root, path), 'utf8') });
      }
    }
  }
  return files.sort((a, b) => (a.path < b.path ? -1 : 1));
}
