/** Prepares SQL statements for sending: names prepared statements, and converts lists to PostgreSQL's array syntax. */

/**
 * The maximum number of prepared statements. It is limited because every connection stores all of them. Once it is
 * reached, new statements are sent unprepared.
 */
const maxPrepared = 300;

/**
 * Marks a statement that is built for one request and rarely repeated, for example with a caller's filters. Statements
 * with this prefix are sent unprepared, so that varying filters do not use up the names of prepared statements.
 */
export const unpreparedPrefix = '/* unprepared */';

/**
 * Creates a function that returns a short name for each SQL text. Once the limit is reached, it returns undefined for
 * new texts.
 */
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

/**
 * Returns whether the error is `cached plan must not change result type`, which the server returns before it runs the
 * statement.
 */
export function isOutdatedPlanError(error: unknown): boolean {
  const { code, routine } = error as { code?: unknown; routine?: unknown };
  return code === '0A000' && routine === 'RevalidateCachedQuery';
}

/**
 * Statements are planned again after this many transactions. Planning all statements of a batch takes a few
 * milliseconds, which is negligible at this interval.
 */
const transactionsPerPlan = 16;

/**
 * Decides for each connection when its statements must be planned again: often at first, because empty tables grow
 * quickly, and then every `transactionsPerPlan` transactions. Call `isDue` once before each transaction.
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
 * Converts the lists among a statement's values to PostgreSQL's array syntax. `pg` does the same, but builds the text
 * item by item and searches each item twice, which is slow for the thousands of items in a batch statement.
 */
export function toArrayLiterals(values: readonly unknown[]): unknown[] {
  return values.map((value) => (Array.isArray(value) ? (arrayLiteral(value) ?? value) : value));
}

/**
 * Converts a list to PostgreSQL's array syntax. Returns null if the list contains anything except strings, numbers,
 * booleans and nulls. `pg` converts such lists.
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

/**
 * Quotes an array item. Every item is quoted, because some strings, such as `null`, have a special meaning without
 * quotes.
 */
function quoted(text: string): string {
  return text.includes('"') || text.includes('\\') ? `"${text.replace(/["\\]/g, '\\$&')}"` : `"${text}"`;
}
