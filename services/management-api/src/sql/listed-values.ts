/** Parses a list of IDs: `1`, `1,2` or `[1, 2]`. */
export function parseIds(text: string | undefined): number[] {
  const listed = parsedList(text) ?? text?.split(',') ?? [];
  return listed.map(Number).filter((id) => Number.isInteger(id) && id > 0 && id <= 2_147_483_647);
}

/** Parses a list of strings: `["a", "b"]`. */
export function parseTexts(text: string | undefined): string[] {
  return (parsedList(text) ?? []).filter((item): item is string => typeof item === 'string' && !item.includes('\0'));
}

function parsedList(text: string | undefined): unknown[] | null {
  try {
    const value: unknown = JSON.parse(text ?? '');
    return Array.isArray(value) ? value : null;
  } catch {
    return null;
  }
}
