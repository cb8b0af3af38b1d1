import { existsSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';

// Links, paths and citations that lead nowhere.
/** A path from the top that stands in code: the document says that it is there. */
const namedPath = /`((?:packages|services|test-e2e|prisma|deploy|docs)\/[\w./-]*\w)\/?`/g;
const link = /\]\((?!https?:)([^)\s]+)\)/g;
/** In prose and comments: `docs/architecture.md`, `docs/architecture.md#the-log`, `docs/architecture.md, "The log"`. */
const citation = /(?<![\w./-])(docs\/(?:[\w-]+\/)*[\w-]+\.md)\b(?:#([\w-]+)|,? "([^"]+)")?/g;

/** Whatever the documents point to, and whatever points to them, that is not there. One line for each. */
export async function documentProblems(root: string): Promise<string[]> {
  const { pages, sources } = await repositoryTexts(root);
  const headings = new Map(pages.map(({ path, text }) => [path, new Set(headingsOf(text).map(anchorOf))]));
  const isThere = (file: string, anchor?: string) =>
    anchor === undefined ? existsSync(join(root, file)) : headings.get(file)?.has(anchor) === true;

  const linked = pages.flatMap(({ path, text }) =>
    [...text.matchAll(link)].flatMap(([, target = '']) => {
      const [file = '', anchor] = target.split('#');
      const isLeading = isThere(file === '' ? path : join(dirname(path), file), anchor);
      return isLeading ? [] : [`${path}: broken link ${target}`];
    }),
  );
  const named = pages.flatMap(({ path, text }) =>
    [...text.matchAll(namedPath)].flatMap(([, file = '']) =>
      isThere(file) ? [] : [`${path}: mentions ${file}, which does not exist`],
    ),
  );
  const cited = [...pages.map(withoutLinks), ...sources].flatMap(({ path, text }) =>
    [...onOneLine(text).matchAll(citation)].flatMap(([words, file = '', anchor, heading]) =>
      isThere(file, anchor ?? (heading === undefined ? undefined : anchorOf(heading)))
        ? []
        : [`${path}: refers to ${words}, which does not exist`],
    ),
  );
  return [...linked, ...named, ...cited];
}

/** Documents name each other from their own place, in links, which are checked as such. */
const withoutLinks = ({ path, text }: SourceFile): SourceFile => ({
  path,
  text: text.replace(/\]\([^)\s]+\)/g, ']').replace(namedPath, ''),
});

/** Comments wrap anywhere. */
const onOneLine = (source: string) => source.replace(/\n\s*(?:\*|\/\/|--)?\s*/g, ' ');

/** What the checks of the documents look at. */
export interface RepositoryTexts {
  /** The documents for readers: those at the top, in `docs/`, `deploy/` and `examples/`. */
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
    sourceFiles(root, ['docs', 'deploy', 'examples'], ['.md']),
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

/** The headings of a page in Markdown, without their signs; none of what stands in code. */
function headingsOf(text: string): string[] {
  const prose = text.replace(/^```[\s\S]*?^```/gm, '');
  return [...prose.matchAll(/^#+ (.+)$/gm)].map(([, heading = '']) => heading.trim());
}

/** How links name a heading. */
function anchorOf(heading: string): string {
  return heading
    .toLowerCase()
    .replace(/[^\p{Letter}\p{Number} _-]/gu, '')
    .replaceAll(' ', '-');
}

/** A table in Markdown. A bar within a cell would end it. */
export function markdownTable(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) => `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`;
  return [line(head), line(head.map(() => '---')), ...rows.map(line)].join('\n');
}
