/**
 * An error for the log, without its message: messages of PostgreSQL and of JSON.parse quote the values they dislike, and
 * property values, keys and e-mail addresses are never logged.
 */
export function describeFailure(error: unknown): Record<string, unknown> {
  if (!(error instanceof Error)) return { errorName: typeof error };
  const { code, table, column, constraint, routine } = error as unknown as Record<string, unknown>;
  const facts = Object.entries({ code, table, column, constraint, routine }).filter(
    ([, fact]) => typeof fact === 'string',
  );
  const frames = (error.stack ?? '').split('\n').filter((line) => line.trimStart().startsWith('at '));
  return { errorName: error.name, ...Object.fromEntries(facts), at: frames.slice(0, 8).map((line) => line.trim()) };
}
