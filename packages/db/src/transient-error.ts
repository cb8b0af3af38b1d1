/**
 * SQLSTATE classes after which the same work may succeed when done again: connection trouble, serialization failure,
 * deadlock, lock and statement timeouts, shutdown of the server, too many connections, disk full, read-only failover.
 */
const transientStates = new Set([
  '40001',
  '40P01',
  '55P03',
  '57014',
  '57P01',
  '57P02',
  '57P03',
  '57P05',
  '53000',
  '53100',
  '53200',
  '53300',
  '25006',
]);

const transientSystemCodes = new Set([
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

/** Messages of the `pg` driver for a lost or unobtainable connection; it gives them no code. */
const driverMessages =
  /Connection terminated|timeout exceeded when trying to connect|Client has encountered a connection error|connection is not queryable|Query read timeout/i;

/** True when the error says "not now" rather than "not like this". Looks through `cause`. */
export function isTransientError(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const code = (error as { code?: unknown }).code;
  if (typeof code === 'string') {
    if (code.startsWith('08') || transientStates.has(code) || transientSystemCodes.has(code)) return true;
    // Prisma: cannot reach, timed out, pool exhausted, write conflict.
    if (['P1001', 'P1002', 'P1008', 'P1017', 'P2024', 'P2034'].includes(code)) return true;
  }
  if (driverMessages.test(error.message)) return true;
  const aggregated = (error as { errors?: unknown }).errors;
  if (Array.isArray(aggregated) && aggregated.some(isTransientError)) return true;
  return error.cause !== undefined && isTransientError(error.cause);
}
