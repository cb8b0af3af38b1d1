/** Long enough for a machine that does much else: the deadline is a limit for a broken program, not a measurement. */
export const patienceMs = 90_000;

interface EventuallyOptions {
  /** A noun phrase, for the message. */
  what?: string;
  /** Shown with the failure: what there is instead. */
  describe?: () => unknown;
  /** Only where the time is the promise under test, or known to be longer. */
  timeoutMs?: number;
  intervalMs?: number;
}

/**
 * Repeats `attempt` until it neither throws nor returns false, and gives its result. For what happens by itself after
 * a while.
 *
 * @throws Error with the last failure in its message and as its cause.
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

/** Waits while the server's hour has less than a minute left: what is counted by the hour would begin again within a test. */
export async function awayFromHourEnd(sql: Sql): Promise<void> {
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
