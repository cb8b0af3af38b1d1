import type { Token } from 'marked';
import { loadPart } from '../../frame/broken.tsx';
import { idOf, isHeading, readMarkdown } from '../../parts/markdown.tsx';

/** The documents of the version that runs: they are built into the console, so they need no other host. */
const loaders = import.meta.glob<string>('../../../../../docs/**/*.md', {
  query: '?raw',
  import: 'default',
});

/** By the path in `docs` without its ending, such as `operations/install`. */
const documents = new Map(
  Object.entries(loaders).map(([path, load]) => [
    path.replace(/^(?:\.\.\/)+docs\//, '').replace(/\.md$/, ''),
    loadPart(load),
  ]),
);

/** The page that says which document answers which question. */
export const indexName = 'README';

const hasDocument = (name: string) => documents.has(name);

/** @returns null when there is no such document. @throws when its file cannot be loaded. */
export async function loadDocument(name: string): Promise<Token[] | null> {
  const source = await documents.get(name)?.();
  return source === undefined ? null : readMarkdown(source);
}

/** The document, and its section, that a link in a document leads to. Null for files outside of `docs`. */
export function documentOf(target: string, from: string): { name: string; section: string } | null {
  const base = new URL(`http://docs/in/docs/${from}.md`);
  const { pathname, hash } = new URL(target, base);
  const name = /^\/in\/docs\/(.+)\.md$/.exec(pathname)?.[1] ?? '';
  return hasDocument(name) ? { name, section: hash } : null;
}

/** A section of a document, for the search. */
export interface Section {
  /** The name of the document and the ID of the heading. */
  id: string;
  document: string;
  heading: string;
  text: string;
}

/** All documents, section by section. */
export async function loadSections(): Promise<Section[]> {
  const sections: Section[] = [];
  for (const [name, tokens] of await Promise.all(
    [...documents.keys()].map(async (name) => [name, await loadDocument(name)] as const),
  )) {
    const title = tokens?.find(isHeading)?.text ?? name;
    for (const token of tokens ?? []) {
      if (isHeading(token)) {
        sections.push({
          id: `${name}#${idOf(token.text)}`,
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
  // Headings that occur twice on a page have one address.
  return [...new Map(sections.map((section) => [section.id, section])).values()];
}
