import { anchorOf } from './headings-of.ts';

export interface Citation {
  /** A document, as a path from the top. */
  file: string;
  /** As links name it; null when the whole document is cited. */
  anchor: string | null;
}

const citation = /(?<![\w./-])((?:[\w-]+\/)*[\w-]+\.md)\b(?:#([\w-]+)|,? "([^"]+)")?/g;

/** What comments cite of the documents: `docs/architecture.md`, `docs/architecture.md#the-log`, `docs/architecture.md, "The log"`. */
export function citationsIn(source: string): Citation[] {
  return [...onOneLine(source).matchAll(citation)].map(([, file = '', anchor, heading]) => ({
    file,
    anchor: anchor ?? (heading === undefined ? null : anchorOf(heading)),
  }));
}

/** Comments wrap anywhere. */
export function onOneLine(source: string): string {
  return source.replace(/\n\s*(?:\*|\/\/|--)?\s*/g, ' ');
}
