/** Each prepared statement is kept by each connection: texts beyond so many are sent as they are. */
const maxPrepared = 300;

/** A short name for each text; undefined for a new one when there are enough. */
export function createStatementNames(): (text: string) => string | undefined {
  const names = new Map<string, string>();
  return (text) => {
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
