/**
 * What of a line of the services' log a person at the terminal should see: warnings and errors, in a few words, or nothing
 * (null). A line that is not from our logger (a crash of Node itself) is shown as it is.
 */
export function shortLogLine(line: string): string | null {
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
