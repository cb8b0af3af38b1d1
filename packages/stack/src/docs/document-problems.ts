// Links, paths and citations that lead nowhere.
import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { anchorOf, headingsOf } from './markdown.ts';
import { repositoryTexts, type SourceFile } from './repository-texts.ts';

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
      return isLeading ? [] : [`${path}: the link ${target} leads nowhere`];
    }),
  );
  const named = pages.flatMap(({ path, text }) =>
    [...text.matchAll(namedPath)].flatMap(([, file = '']) =>
      isThere(file) ? [] : [`${path}: names ${file}, which is not there`],
    ),
  );
  const cited = [...pages.map(withoutLinks), ...sources].flatMap(({ path, text }) =>
    [...onOneLine(text).matchAll(citation)].flatMap(([words, file = '', anchor, heading]) =>
      isThere(file, anchor ?? (heading === undefined ? undefined : anchorOf(heading)))
        ? []
        : [`${path}: cites ${words}, which is not there`],
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
