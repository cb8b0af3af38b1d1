/** Prepares statements for sending: names prepared statements, and converts lists to PostgreSQL's array syntax. */

/**
 * Maximum number of prepared statements. The number is limited, because every connection stores all of them. Further
 * statements are sent unprepared.
 */
const maxPrepared = 300;

/**
 * Marks a statement that is built for one request and rarely repeated, for example with a caller's filters. Such a
 * statement is sent unprepared. Otherwise, a caller with varying filters would use up the names of prepared statements.
 */
export const unpreparedPrefix = '/* unprepared */';

/**
 * Creates a function that returns a short name for each text. When the limit is reached, the function returns undefined
 * for a new text.
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
 * Recognizes the error `cached plan must not change result type`, which the server returns before running the
 * statement.
 */
export function isOutdatedPlanError(error: unknown): boolean {
  const { code, routine } = error as { code?: unknown; routine?: unknown };
  return code === '0A000' && routine === 'RevalidateCachedQuery';
}

/**
 * The number of transactions after which statements are planned again. Planning all statements of a batch takes a few
 * milliseconds, which is little at this interval.
 */
const transactionsPerPlan = 16;

/**
 * Decides for each connection when its statements must be planned again: often at first, because empty tables grow
 * quickly, and later every `transactionsPerPlan` transactions. Call `isDue` once before each transaction.
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
 * item by item and searches each item twice, which is slow for the thousands of items in statements for a whole batch.
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
 * Quotes an item of an array. Every item is quoted, because some texts, such as `null`, have a special meaning without
 * quotes.
 */
function quoted(text: string): string {
  return text.includes('"') || text.includes('\\') ? `"${text.replace(/["\\]/g, '\\$&')}"` : `"${text}"`;
}
