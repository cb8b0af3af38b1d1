import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { anchorOf, headingsOf } from './headings-of.ts';
import type { SourceFile } from './source-files.ts';

/** Links of the documents that lead nowhere: to no file, or to no heading of it. */
export function linkProblems(root: string, pages: readonly SourceFile[]): string[] {
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
export function hasHeading(pages: readonly SourceFile[], path: string, anchor: string): boolean {
  const page = pages.find((candidate) => candidate.path === path);
  return page !== undefined && headingsOf(page.text).some((heading) => anchorOf(heading) === anchor);
}

function linksOf({ text }: SourceFile): string[] {
  return [...text.matchAll(/\]\(([^)\s]+)\)/g)].map(([, link = '']) => link).filter((link) => !/^https?:/.test(link));
}
