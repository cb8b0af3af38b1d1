import { type Citation, citationsIn, onOneLine } from './citations-in.ts';
import { hasHeading } from './link-problems.ts';
import type { RepositoryTexts } from './repository-texts.ts';
import type { SourceFile } from './source-files.ts';

/** Texts by which this was built and that no reader has: what they say is said in `docs/`, in our own words. */
const foreignFile = /\b(?:reference|contract|design)\/[a-z][\w-]*\.(?:md|json)\b/gi;
/** Pages here have headings, no numbers. */
const foreignSection =
  /(?<!\bRFC \d+,? )\bsections? \d|\b(?:reference|contract)(?:'s)? (?:rows?|rules?) \d|\breference \d+\.\d/gi;

/** Citations of documents, or headings, that are not there; and of texts that are not in the repository at all. */
export function citationProblems({ pages, sources }: RepositoryTexts): string[] {
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
