/**
 * Repeats `attempt` until it neither throws nor returns false, and gives its result. For what happens by itself after
 * a while: the deadline is a limit for a broken program, not a measurement.
 *
 * @throws Error with the last failure in its message and as its cause, after `timeoutMs` (10 s by default).
 */
export async function eventually<T>(
  attempt: () => T | Promise<T>,
  { timeoutMs = 10_000, intervalMs = 50, what = 'It' }: { timeoutMs?: number; intervalMs?: number; what?: string } = {},
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
      throw new Error(`${what} did not happen within ${timeoutMs} ms (${attempts} attempts). Last failure: ${reason}`, {
        cause,
      });
    }
    await new Promise((resolve) => setTimeout(resolve, intervalMs));
  }
}
