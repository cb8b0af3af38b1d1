/**
 * What of a service's log a person at the terminal should see: warnings and errors, in a few words. Lines that are not
 * from our logger (a crash of Node itself) are shown as they are.
 */
export function pickLogLines(text: string): string[] {
  return text.split('\n').flatMap((line) => {
    if (line.trim() === '') return [];
    const entry = parse(line);
    if (!entry) return [line];
    if (entry.level !== 'warn' && entry.level !== 'error') return [];
    const reason = entry.error?.message;
    return [`${entry.level}: ${entry.message}${reason ? ` (${reason})` : ''}`];
  });
}

function parse(line: string): { level?: string; message?: string; error?: { message?: string } } | null {
  try {
    const entry: unknown = JSON.parse(line);
    return typeof entry === 'object' ? entry : null;
  } catch {
    return null;
  }
}
