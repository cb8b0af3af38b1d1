// Loads the manual, which is part of the console, and resolves the links between its documents.

import type { Token } from 'marked';
import { loadPageCode } from '../../frame/broken.tsx';
import { isHeading, readMarkdown, toHeadingId } from '../../parts/markdown.tsx';

/** The console bundles the manual of the running version, so that it is available without internet access. */
const loaders = import.meta.glob<string>('../../../../../docs/**/*.md', {
  query: '?raw',
  import: 'default',
});

/** Functions that load the documents, by path in `docs` without the extension, such as `operations/install`. */
const documents = new Map(
  Object.entries(loaders).map(([path, load]) => [
    path.replace(/^(?:\.\.\/)+docs\//, '').replace(/\.md$/, ''),
    loadPageCode(load),
  ]),
);

/** Name of the document that lists all documents. */
export const indexName = 'README';

const hasDocument = (name: string) => documents.has(name);

/**
 * Loads a document of the manual.
 * @returns null if the document does not exist
 * @throws PartMissing if its file cannot be loaded
 */
export async function loadDocument(name: string): Promise<Token[] | null> {
  const source = await documents.get(name)?.();
  return source === undefined ? null : readMarkdown(source);
}

/** Resolves a link in the document `from` to a document and section. Returns null for a file outside `docs`. */
export function resolveDocumentLink(target: string, from: string): { name: string; section: string } | null {
  const base = new URL(`http://docs/in/docs/${from}.md`);
  const { pathname, hash } = new URL(target, base);
  const name = /^\/in\/docs\/(.+)\.md$/.exec(pathname)?.[1] ?? '';
  return hasDocument(name) ? { name, section: hash } : null;
}

export interface Section {
  /** Document name and heading ID, joined by `#`. */
  id: string;
  document: string;
  heading: string;
  text: string;
}

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
  // Sections with equal headings in a document have the same ID, so keep only the last one.
  return [...new Map(sections.map((section) => [section.id, section])).values()];
}
