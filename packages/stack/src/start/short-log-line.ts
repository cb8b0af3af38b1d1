/**
 * Shortens a line of the services' log for the terminal. Returns null for log lines that are neither warnings nor
 * errors. Does not change lines that are not log records, such as a crash of Node.js.
 */
export function shortenLogLine(line: string): string | null {
  if (line.trim() === '') return null;
  const entry = parse(line);
  if (!entry) return line;
  if (entry.level !== 'warn' && entry.level !== 'error') return null;
  const reason = entry.error?.message?.split('\n', 1)[0];
  return `${entry.service ?? 'services'}: ${entry.level}: ${entry.message}${reason ? ` (${reason})` : ''}`;
}

function parse(
  line: string,
): { service?: string; level?: string; message?: string; error?: { message?: string } } | null {
  try {
    const entry: unknown = JSON.parse(line);
    return typeof entry === 'object' ? entry : null;
  } catch {
    return null;
  }
}
