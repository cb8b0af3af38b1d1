/**
 * PostgreSQL's text and jsonb hold neither NUL nor half a surrogate pair, but a distinct id, and so a key, may contain
 * both. NUL is escaped and comes back; a lone surrogate becomes U+FFFD, as it does in UTF-8 everywhere else.
 */
export function toPostgresText(text: string): string {
  const wellFormed = text.toWellFormed();
  if (!wellFormed.includes('\0') && !wellFormed.includes('\\')) return wellFormed;
  return wellFormed.replaceAll('\\', '\\\\').replaceAll('\0', '\\0');
}

/** Undoes `toPostgresText`. */
export function fromPostgresText(text: string): string {
  if (!text.includes('\\')) return text;
  return text.replace(/\\([\\0])/g, (_, escaped: string) => (escaped === '0' ? '\0' : '\\'));
}
