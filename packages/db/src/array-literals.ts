/**
 * Values of a statement with its lists as PostgreSQL writes arrays. `pg` does the same, but builds the text member by
 * member and searches each of them twice; statements over a whole batch have thousands of members.
 */
export function withArrayLiterals(values: readonly unknown[]): unknown[] {
  return values.map((value) => (Array.isArray(value) ? (arrayLiteral(value) ?? value) : value));
}

/** Null for a list that holds other things than texts, numbers, booleans and nulls: those are `pg`'s to write. */
function arrayLiteral(list: readonly unknown[]): string | null {
  const members: string[] = [];
  for (const member of list) {
    const text = memberText(member);
    if (text === null) return null;
    members.push(text);
  }
  return `{${members.join(',')}}`;
}

function memberText(member: unknown): string | null {
  switch (typeof member) {
    case 'string':
      return quoted(member);
    case 'number':
    case 'bigint':
    case 'boolean':
      return String(member);
    default:
      return member === null || member === undefined ? 'NULL' : null;
  }
}

/** Always in quotes: without them some texts mean something else, such as `null`. */
function quoted(text: string): string {
  return text.includes('"') || text.includes('\\') ? `"${text.replace(/["\\]/g, '\\$&')}"` : `"${text}"`;
}
