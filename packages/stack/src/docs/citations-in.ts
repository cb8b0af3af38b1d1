export interface Citation {
  /** A document, as a path from the top. */
  file: string;
  heading: string | null;
}

/** What comments cite of the documents: `docs/architecture.md`, or `docs/architecture.md, "The log"`; also over two lines. */
export function citationsIn(source: string): Citation[] {
  const onOneLine = source.replace(/\n\s*(?:\*|\/\/|--)?\s*/g, ' ');
  const cited = onOneLine.matchAll(/\b((?:docs\/[\w./-]+|ARCHITECTURE|README|CONTRIBUTING)\.md)(?:,? "([^"]+)")?/g);
  return [...cited].map(([, file = '', heading = null]) => ({ file, heading }));
}
