/** Prepares statements for sending: the names of prepared statements, and lists in PostgreSQL's array syntax. */

/** Limited because every connection keeps every prepared statement. Further statements are sent unprepared. */
const maxPrepared = 300;

/**
 * Prefix for a statement that is built for one request and rarely repeated, for example with a caller's filters. It is
 * sent unprepared. Otherwise a caller with varying filters would use up the names for all others.
 */
export const unpreparedPrefix = '/* unprepared */';

/** Returns a short name for each text, or undefined for a new one when the limit is reached. */
export function createStatementNames(): (text: string) => string | undefined {
  const names = new Map<string, string>();
  return (text) => {
    if (text.startsWith(unpreparedPrefix)) return undefined;
    let name = names.get(text);
    if (name === undefined && names.size < maxPrepared) {
      name = `millrace_${names.size + 1}`;
      names.set(text, name);
    }
    return name;
  };
}

/** Detects the error `cached plan must not change result type`, which the server returns before it runs anything. */
export function isOutdatedPlanError(error: unknown): boolean {
  const { code, routine } = error as { code?: unknown; routine?: unknown };
  return code === '0A000' && routine === 'RevalidateCachedQuery';
}

/** Planning all statements of a batch again takes a few milliseconds, which is negligible at this interval. */
const transactionsPerPlan = 16;

/**
 * Decides for each connection when its plans must be made again. It must be called once before each transaction. Plans
 * are remade often at first, because empty tables grow quickly, and later every `transactionsPerPlan` transactions.
 */
export function createPlanExpiry(): { isDue(connection: object): boolean } {
  const transactions = new WeakMap<object, number>();
  return {
    isDue(connection) {
      const before = transactions.get(connection) ?? 0;
      transactions.set(connection, before + 1);
      return before > 0 && (before % transactionsPerPlan === 0 || Number.isInteger(Math.log2(before)));
    },
  };
}

/**
 * Converts lists in the values of a statement to PostgreSQL's array syntax. `pg` does the same, but builds the text
 * item by item and searches each item twice. Statements for a whole batch have thousands of items.
 */
export function toArrayLiterals(values: readonly unknown[]): unknown[] {
  return values.map((value) => (Array.isArray(value) ? (arrayLiteral(value) ?? value) : value));
}

/**
 * Returns null for a list that contains anything except strings, numbers, booleans and nulls. `pg` converts such lists.
 */
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

/** Always quoted, because some texts have a meaning without quotes, for example `null`. */
function quoted(text: string): string {
  return text.includes('"') || text.includes('\\') ? `"${text.replace(/["\\]/g, '\\$&')}"` : `"${text}"`;
}
