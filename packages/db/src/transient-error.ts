/**
 * SQLSTATEs after which a statement may succeed when it is repeated on the same connection: serialization failure,
 * deadlock, lock or statement timeout, disk or memory full, and a read-only server during a failover.
 */
const repeatableStates = new Set(['40001', '40P01', '55P03', '57014', '53000', '53100', '53200', '25006']);

/**
 * SQLSTATEs that a server sends when it ends a connection or rejects a new one: shutdown, crash, startup, idle for too
 * long (in or outside a transaction), transaction too long, and too many connections.
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

/** Prisma's error codes for a server that is unreachable, timed out, or closed the connection. */
const prismaConnectionCodes = new Set(['P1001', 'P1002', 'P1008', 'P1017']);

/**
 * Prisma's error codes for a pool without a free connection, a write conflict or deadlock, and a transaction that could
 * not begin in time.
 */
const prismaRepeatableCodes = new Set(['P2024', 'P2034', 'P2028']);

/** The `kind` that Prisma's driver adapter assigns to connection errors. */
const adapterConnectionKinds = new Set([
  'DatabaseNotReachable',
  'ConnectionClosed',
  'SocketTimeout',
  'TooManyConnections',
]);
const adapterRepeatableKind = 'TransactionWriteConflict';

/** The `pg` driver's messages for a connection that was lost or could not be opened. These errors have no code. */
const driverMessages =
  /Connection terminated|timeout exceeded when trying to connect|timeout expired|Client has encountered a connection error|connection is not queryable|Query read timeout/i;

/**
 * Returns whether the failed work may succeed when it is repeated, because its data did not cause the error. Also
 * checks `cause`, Prisma's metadata and aggregated errors.
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

/**
 * Returns whether the connection was lost or could not be opened. Such errors are also transient (`isTransientError`).
 */
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

function someError(error: unknown, predicate: (facts: ErrorFacts) => boolean, depth = 0): boolean {
  if (typeof error !== 'object' || error === null || depth > 8) return false;
  const { code, originalCode, kind, message, cause, errors, meta } = error as Record<string, unknown>;
  if (predicate({ code: text(code), kind: text(kind), message: text(message) })) return true;
  // Prisma's driver error stores PostgreSQL's error code in this property.
  if (predicate({ code: text(originalCode), kind: '', message: '' })) return true;
  const origins = [cause, (meta as { driverAdapterError?: unknown } | undefined)?.driverAdapterError];
  if (Array.isArray(errors)) origins.push(...errors);
  return origins.some((origin) => someError(origin, predicate, depth + 1));
}

function text(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

export function isUniqueViolation(error: unknown): boolean {
  return (error as { code?: unknown } | null)?.code === '23505';
}
