/**
 * SQLSTATEs after which the same work may succeed when done again on a connection that is still good: serialization
 * failure, deadlock, lock and statement timeouts, disk or memory full, read-only server during a failover.
 */
const repeatableStates = new Set(['40001', '40P01', '55P03', '57014', '53000', '53100', '53200', '25006']);

/**
 * SQLSTATEs of a server that ends this connection or takes no new one: shutdown, crash, starting, idle, idle in a
 * transaction, a transaction too long, too many.
 */
const connectionStates = new Set(['57P01', '57P02', '57P03', '57P05', '25P03', '25P04', '53300']);

const systemCodes = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'EPIPE',
  'ETIMEDOUT',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ECONNABORTED',
]);

/** Prisma: cannot reach, timed out, closed the connection. */
const prismaConnectionCodes = new Set(['P1001', 'P1002', 'P1008', 'P1017']);

/** Prisma: no connection of the pool was free in time, write conflict or deadlock, transaction could not begin in time. */
const prismaRepeatableCodes = new Set(['P2024', 'P2034', 'P2028']);

/** Prisma's driver adapter: what it makes of an error of the connection, in a field of its own. */
const adapterConnectionKinds = new Set([
  'DatabaseNotReachable',
  'ConnectionClosed',
  'SocketTimeout',
  'TooManyConnections',
]);
const adapterRepeatableKind = 'TransactionWriteConflict';

/** Messages of the `pg` driver for a lost or unobtainable connection; it gives them no code. */
const driverMessages =
  /Connection terminated|timeout exceeded when trying to connect|timeout expired|Client has encountered a connection error|connection is not queryable|Query read timeout/i;

/**
 * True when the error says "not now" rather than "not like this": the same work may be done again, and nothing is wrong
 * with its data. Looks through `cause`, Prisma's metadata and aggregated errors.
 */
export function isTransientError(error: unknown): boolean {
  return someError(
    error,
    (facts) =>
      isConnectionFailure(facts) ||
      repeatableStates.has(facts.code) ||
      prismaRepeatableCodes.has(facts.code) ||
      facts.kind === adapterRepeatableKind,
  );
}

/** True when the connection the work ran on is lost, or none could be had. A subset of `isTransientError`. */
export function isConnectionError(error: unknown): boolean {
  return someError(error, isConnectionFailure);
}

function isConnectionFailure({ code, kind, message }: ErrorFacts): boolean {
  return (
    /^08...$/.test(code) ||
    connectionStates.has(code) ||
    systemCodes.has(code) ||
    prismaConnectionCodes.has(code) ||
    adapterConnectionKinds.has(kind) ||
    driverMessages.test(message)
  );
}

interface ErrorFacts {
  code: string;
  kind: string;
  message: string;
}

/** Whether the predicate holds for the error or for one it was made from. */
function someError(error: unknown, predicate: (facts: ErrorFacts) => boolean, depth = 0): boolean {
  if (typeof error !== 'object' || error === null || depth > 8) return false;
  const { code, originalCode, kind, message, cause, errors, meta } = error as Record<string, unknown>;
  if (predicate({ code: text(code), kind: text(kind), message: text(message) })) return true;
  // Prisma's driver error keeps PostgreSQL's code under this name.
  if (predicate({ code: text(originalCode), kind: '', message: '' })) return true;
  const origins = [cause, (meta as { driverAdapterError?: unknown } | undefined)?.driverAdapterError];
  if (Array.isArray(errors)) origins.push(...errors);
  return origins.some((origin) => someError(origin, predicate, depth + 1));
}

function text(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

/** True when PostgreSQL refused a row because its key is there already. */
export function isUniqueViolation(error: unknown): boolean {
  return (error as { code?: unknown } | null)?.code === '23505';
}
