// Loads the documents of the manual, which are part of the console, and finds the documents to which their links lead.

import type { Token } from 'marked';
import { loadPart } from '../../frame/broken.tsx';
import { isHeading, readMarkdown, toHeadingId } from '../../parts/markdown.tsx';

/**
 * The documents of the running version. They are bundled with the console, so they are available without internet
 * access.
 */
const loaders = import.meta.glob<string>('../../../../../docs/**/*.md', {
  query: '?raw',
  import: 'default',
});

/** Loaders by path in `docs` without the extension, such as `operations/install`. */
const documents = new Map(
  Object.entries(loaders).map(([path, load]) => [
    path.replace(/^(?:\.\.\/)+docs\//, '').replace(/\.md$/, ''),
    loadPart(load),
  ]),
);

/** Name of the document that lists all others. */
export const indexName = 'README';

const hasDocument = (name: string) => documents.has(name);

/**
 * Loads a document of the manual.
 * @returns null if the document does not exist
 * @throws an error if its file cannot be loaded
 */
export async function loadDocument(name: string): Promise<Token[] | null> {
  const source = await documents.get(name)?.();
  return source === undefined ? null : readMarkdown(source);
}

/** Returns the document and the section to which a link leads. Returns null for files outside of `docs`. */
export function resolveDocumentLink(target: string, from: string): { name: string; section: string } | null {
  const base = new URL(`http://docs/in/docs/${from}.md`);
  const { pathname, hash } = new URL(target, base);
  const name = /^\/in\/docs\/(.+)\.md$/.exec(pathname)?.[1] ?? '';
  return hasDocument(name) ? { name, section: hash } : null;
}

/** A section of a document, for the search. */
export interface Section {
  /** Name of the document and ID of the heading, as one text. */
  id: string;
  document: string;
  heading: string;
  text: string;
}

/** Loads all documents, split into sections. */
export async function loadSections(): Promise<Section[]> {
  const sections: Section[] = [];
  for (const [name, tokens] of await Promise.all(
    [...documents.keys()].map(async (name) => [name, await loadDocument(name)] as const),
  )) {
    const title = tokens?.find(isHeading)?.text ?? name;
    for (const token of tokens ?? []) {
      if (isHeading(token)) {
        sections.push({
          id: `${name}#${toHeadingId(token.text)}`,
          document: title,
          heading: token.text.replaceAll('`', ''),
          text: '',
        });
        continue;
      }
      const section = sections.at(-1);
      if (section) section.text += ` ${token.raw}`;
    }
  }
  // If a heading occurs twice on a page, both have the same ID.
  return [...new Map(sections.map((section) => [section.id, section])).values()];
}
