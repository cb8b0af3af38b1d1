/** How a statement is sent: under a name it was prepared with, and with its lists as PostgreSQL writes them. */

/** Every connection keeps every prepared statement, so further texts than these are sent unprepared. */
const maxPrepared = 300;

/**
 * Begins a statement that is built for one request and hardly comes again, such as one with a caller's own filters: it
 * is sent unprepared. Otherwise a caller who varies the filters would use up the names for all others.
 */
export const unprepared = '/* unprepared */';

/** A short name for each text; undefined for a new one when there are enough. */
export function createStatementNames(): (text: string) => string | undefined {
  const names = new Map<string, string>();
  return (text) => {
    if (text.startsWith(unprepared)) return undefined;
    let name = names.get(text);
    if (name === undefined && names.size < maxPrepared) {
      name = `millrace_${names.size + 1}`;
      names.set(text, name);
    }
    return name;
  };
}

/** `cached plan must not change result type`, which the server says before it runs anything. */
export function isOutdatedPreparation(error: unknown): boolean {
  const { code, routine } = error as { code?: unknown; routine?: unknown };
  return code === '0A000' && routine === 'RevalidateCachedQuery';
}

/** Planning all statements of a batch again takes some milliseconds, which does not matter so seldom. */
const transactionsPerPlan = 16;

/**
 * Says for each connection, asked once before each of its transactions, when its plans are to be made again: often at
 * first, because empty tables grow fast, later every `transactionsPerPlan`th time.
 */
export function createPlanAge(): { isOld(connection: object): boolean } {
  const transactions = new WeakMap<object, number>();
  return {
    isOld(connection) {
      const before = transactions.get(connection) ?? 0;
      transactions.set(connection, before + 1);
      return before > 0 && (before % transactionsPerPlan === 0 || Number.isInteger(Math.log2(before)));
    },
  };
}

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
