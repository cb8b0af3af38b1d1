import { existsSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';

/** A path in backticks that starts at the repository root. */
const namedPath = /`((?:packages|services|test-e2e|prisma|deploy|docs)\/[\w./-]*\w)\/?`/g;
const link = /\]\((?!https?:)([^)\s]+)\)/g;
/**
 * A citation in a document or a comment: `docs/architecture.md`, `docs/architecture.md#the-log`, or
 * `docs/architecture.md, "The log"`.
 */
const citation = /(?<![\w./-])(docs\/(?:[\w-]+\/)*[\w-]+\.md)\b(?:#([\w-]+)|,? "([^"]+)")?/g;

/** Finds references to and within documents whose targets do not exist. Returns one line per reference. */
export async function findDocumentProblems(root: string): Promise<string[]> {
  const { pages, sources } = await readRepositoryTexts(root);
  const headings = new Map(pages.map(({ path, text }) => [path, new Set(headingsOf(text).map(anchorOf))]));
  const exists = (file: string, anchor?: string) =>
    anchor === undefined ? existsSync(join(root, file)) : headings.get(file)?.has(anchor) === true;

  const linked = pages.flatMap(({ path, text }) =>
    [...text.matchAll(link)].flatMap(([, target = '']) => {
      const [file = '', anchor] = target.split('#');
      const isLeading = exists(file === '' ? path : join(dirname(path), file), anchor);
      return isLeading ? [] : [`${path}: broken link ${target}`];
    }),
  );
  const named = pages.flatMap(({ path, text }) =>
    [...text.matchAll(namedPath)].flatMap(([, file = '']) =>
      exists(file) ? [] : [`${path}: mentions ${file}, which does not exist`],
    ),
  );
  const cited = [...pages.map(withoutLinks), ...sources].flatMap(({ path, text }) =>
    [...onOneLine(text).matchAll(citation)].flatMap(([words, file = '', anchor, heading]) =>
      exists(file, anchor ?? (heading === undefined ? undefined : anchorOf(heading)))
        ? []
        : [`${path}: refers to ${words}, which does not exist`],
    ),
  );
  return [...linked, ...named, ...cited];
}

/** Removes links. They are relative to the document and are checked separately. */
const withoutLinks = ({ path, text }: SourceFile): SourceFile => ({
  path,
  text: text.replace(/\]\([^)\s]+\)/g, ']').replace(namedPath, ''),
});

/** Joins lines into one, because a citation in a comment can contain a line break. */
const onOneLine = (source: string) => source.replace(/\n\s*(?:\*|\/\/|--)?\s*/g, ' ');

export interface RepositoryTexts {
  /** Documents for readers, which are in the repository root, `docs/`, `deploy/` and `examples/`. */
  pages: SourceFile[];
  sources: SourceFile[];
}

const folders = ['packages', 'services', 'test-e2e', 'prisma', 'deploy'];
const endings = ['.ts', '.mjs', '.cjs', '.sql', '.prisma', '.json', '.jsonc', '.sh', '.py', '.go', '.rs'];
/** The folder of the document checks. It is not checked, because its tests mention paths that do not exist. */
const ownFolder = 'packages/stack/src/docs/';

export async function readRepositoryTexts(root: string): Promise<RepositoryTexts> {
  const [pagesAtTheTop, docs, settingsAtTheTop, sources] = await Promise.all([
    filesAtTheTop(root, ['.md']),
    readSourceFiles(root, ['docs', 'deploy', 'examples'], ['.md']),
    filesAtTheTop(root, endings),
    readSourceFiles(root, folders, endings),
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
  /** The path relative to the repository root, with slashes. */
  path: string;
  text: string;
}

const ignoredFolders = new Set(['node_modules', 'dist', 'generated', '.millrace', '.git', 'coverage']);

/** Returns the files in these folders whose names have one of the endings, sorted by path. */
export async function readSourceFiles(root: string, folders: string[], endings: string[]): Promise<SourceFile[]> {
  const files: SourceFile[] = [];
  for (const folder of folders) {
    for (const entry of await readdir(join(root, folder), { withFileTypes: true })) {
      const path = folder === '' ? entry.name : `${folder}/${entry.name}`;
      if (entry.isDirectory()) {
        if (!ignoredFolders.has(entry.name)) files.push(...(await readSourceFiles(root, [path], endings)));
      } else if (endings.some((ending) => entry.name.endsWith(ending))) {
        files.push({ path, text: await readFile(join(root, path), 'utf8') });
      }
    }
  }
  return files.sort((a, b) => (a.path < b.path ? -1 : 1));
}

/** Returns the headings of a document. Ignores code blocks. */
function headingsOf(text: string): string[] {
  const prose = text.replace(/^```[\s\S]*?^```/gm, '');
  return [...prose.matchAll(/^#+ (.+)$/gm)].map(([, heading = '']) => heading.trim());
}

/** Returns a heading's anchor as GitHub derives it. */
function anchorOf(heading: string): string {
  return heading
    .toLowerCase()
    .replace(/[^\p{Letter}\p{Number} _-]/gu, '')
    .replaceAll(' ', '-');
}

/** Formats a Markdown table, and escapes vertical bars in cells. */
export function formatMarkdownTable(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) => `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`;
  return [line(head), line(head.map(() => '---')), ...rows.map(line)].join('\n');
}
