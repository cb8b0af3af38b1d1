// Links, paths and citations that lead nowhere.
import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { anchorOf, headingsOf } from './markdown.ts';
import { type RepositoryTexts, repositoryTexts, type SourceFile } from './repository-texts.ts';

/** Whatever the documents point to, and whatever points to them, that is not there. One line for each. */
export async function documentProblems(root: string): Promise<string[]> {
  const texts = await repositoryTexts(root);
  return [...linkProblems(root, texts.pages), ...pathProblems(root, texts), ...citationProblems(texts)];
}

/** Links of the documents that lead nowhere: to no file, or to no heading of it. */
function linkProblems(root: string, pages: readonly SourceFile[]): string[] {
  return pages.flatMap((page) =>
    linksOf(page)
      .filter((link) => !leadsSomewhere(page, link))
      .map((link) => `${page.path}: the link ${link} leads nowhere`),
  );

  function leadsSomewhere({ path }: SourceFile, link: string): boolean {
    const [file = '', anchor] = link.split('#');
    const target = file === '' ? path : join(dirname(path), file);
    return anchor === undefined ? existsSync(join(root, target)) : hasHeading(pages, target, anchor);
  }
}

/** @param path from the top. */
function hasHeading(pages: readonly SourceFile[], path: string, anchor: string): boolean {
  const page = pages.find((candidate) => candidate.path === path);
  return page !== undefined && headingsOf(page.text).some((heading) => anchorOf(heading) === anchor);
}

function linksOf({ text }: SourceFile): string[] {
  return [...text.matchAll(/\]\(([^)\s]+)\)/g)].map(([, link = '']) => link).filter((link) => !/^https?:/.test(link));
}

const namedPath = /`((?:packages|services|test-e2e|prisma|deploy|docs)\/[\w./-]*\w|[\w/-]+\/[\w.-]+\.(?:ts|sql))\/?`/g;

/** Named by a document because they are not there. */
const plannedPaths = new Set(['packages/browser', 'packages/react']);

/** Paths of the repository that a document names and that are not there, neither whole nor without their first folders. */
function pathProblems(root: string, { pages, sources }: RepositoryTexts): string[] {
  const isThere = (named: string) =>
    plannedPaths.has(named) || existsSync(join(root, named)) || sources.some(({ path }) => path.endsWith(`/${named}`));
  return pages.flatMap(({ path, text }) =>
    [...text.matchAll(namedPath)]
      .map(([, named = '']) => named)
      .filter((named) => !isThere(named))
      .map((named) => `${path}: names ${named}, which is not there`),
  );
}

/** Texts by which this was built and that no reader has: what they say is said in `docs/`, in our own words. */
const foreignFile = /\b(?:reference|contract|design)\/[a-z][\w-]*\.(?:md|json)\b/gi;
/** Pages here have headings, no numbers. */
const foreignSection =
  /(?<!\bRFC \d+,? )\bsections? \d|\b(?:reference|contract)(?:'s)? (?:rows?|rules?) \d|\breference \d+\.\d/gi;

/** Citations of documents, or headings, that are not there; and of texts that are not in the repository at all. */
function citationProblems({ pages, sources }: RepositoryTexts): string[] {
  const isThere = (file: string, anchor: string | null) =>
    anchor === null ? pages.some(({ path }) => path === file) : hasHeading(pages, file, anchor);
  const cited = [
    ...sources.map(({ path, text }) => ({ path, citations: citationsIn(text) })),
    ...pages.map(({ path, text }) => ({ path, citations: citationsFromTheTop(text) })),
  ];
  const broken = cited.flatMap(({ path, citations }) =>
    citations
      .filter(({ file, anchor }) => !isThere(file, anchor))
      .map(({ file, anchor }) => `${path}: cites ${file}${anchor === null ? '' : `#${anchor}`}, which is not there`),
  );
  return [...broken, ...foreign(pages, foreignFile), ...foreign([...pages, ...sources], foreignSection)];
}

/** Documents name each other from their own place, in links, which are checked as such. */
function citationsFromTheTop(page: string): Citation[] {
  const withoutLinks = page.replace(/\]\([^)\s]+\)/g, ']');
  return citationsIn(withoutLinks).filter(({ file }) => file.startsWith('docs/'));
}

function foreign(files: readonly SourceFile[], citation: RegExp): string[] {
  return files.flatMap(({ path, text }) =>
    [...onOneLine(text).matchAll(citation)].map(([cited]) => `${path}: cites ${cited}, which is not in the repository`),
  );
}

interface Citation {
  /** A document, as a path from the top. */
  file: string;
  /** As links name it; null when the whole document is cited. */
  anchor: string | null;
}

const citation = /(?<![\w./-])((?:[\w-]+\/)*[\w-]+\.md)\b(?:#([\w-]+)|,? "([^"]+)")?/g;

/** What comments cite of the documents: `docs/architecture.md`, `docs/architecture.md#the-log`, `docs/architecture.md, "The log"`. */
function citationsIn(source: string): Citation[] {
  return [...onOneLine(source).matchAll(citation)].map(([, file = '', anchor, heading]) => ({
    file,
    anchor: anchor ?? (heading === undefined ? null : anchorOf(heading)),
  }));
}

/** Comments wrap anywhere. */
function onOneLine(source: string): string {
  return source.replace(/\n\s*(?:\*|\/\/|--)?\s*/g, ' ');
}
