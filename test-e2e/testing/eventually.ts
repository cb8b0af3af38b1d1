/** The default timeout, long enough for a busy machine. It only ends a broken test, and does not measure anything. */
export const patienceMs = 90_000;

interface EventuallyOptions {
  /** The expected result as a noun phrase, for the error message. */
  what?: string;
  /** Returns the actual state, for the error message. */
  describe?: () => unknown;
  /** Set this only if the duration is part of the tested behavior, or is known to be longer than the default. */
  timeoutMs?: number;
  intervalMs?: number;
}

/**
 * Repeats `attempt` until it neither throws nor returns false, and returns its result. Use `eventually` for effects
 * that take some time.
 * @throws Error with the last failure in its message and as its cause
 */
export async function eventually<T>(
  attempt: () => T | Promise<T>,
  { what = 'It', describe = () => '', timeoutMs = patienceMs, intervalMs = 50 }: EventuallyOptions = {},
): Promise<Exclude<T, false>> {
  const deadline = Date.now() + timeoutMs;
  for (let attempts = 1; ; attempts += 1) {
    let cause: unknown;
    try {
      const result = await attempt();
      if (result !== false) return result as Exclude<T, false>;
      cause = new Error('the condition was false');
    } catch (error) {
      cause = error;
    }
    if (Date.now() >= deadline) {
      const reason = cause instanceof Error ? cause.message : String(cause);
      const tries = `${what} did not happen within ${timeoutMs} ms (${attempts} attempts)`;
      throw new Error(`${tries}. Last failure: ${reason} ${String(await describe())}`.trimEnd(), { cause });
    }
    await new Promise((resolve) => setTimeout(resolve, intervalMs));
  }
}

interface Sql {
  query(text: string): Promise<Record<string, unknown>[]>;
}

/**
 * Waits for the next hour if the current hour has less than a minute left on the database server. Otherwise, an hourly
 * counter could be reset during a test.
 */
export async function waitOutHourEnd(sql: Sql): Promise<void> {
  await eventually(
    async () => {
      const [row] = await sql.query(
        `SELECT date_trunc('hour', now() + interval '1 minute') = date_trunc('hour', now()) AS is_away`,
      );
      return row?.is_away === true;
    },
    { what: 'The next hour' },
  );
}

const requestMs = 5000;

/**
 * Waits for the next time step if the current step is about to end, so that a request sent now is processed in the same
 * step. Steps have the same length and are counted since 1970. Examples are minutes, UTC hours and the steps of
 * one-time codes.
 */
export async function waitOutStepEnd(stepMs: number): Promise<void> {
  const leftMs = stepMs - (Date.now() % stepMs);
  if (leftMs < requestMs) await new Promise((resolve) => setTimeout(resolve, leftMs));
}
