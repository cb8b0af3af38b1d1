// Parses query parameters with lists of values. Invalid values are ignored.

/** `1`, `1,2` or `[1, 2]`. */
export function idsOf(given: string | undefined): number[] {
  const listed = parsedList(given) ?? given?.split(',') ?? [];
  return listed.map(Number).filter((id) => Number.isInteger(id) && id > 0 && id <= 2_147_483_647);
}

/** `["a", "b"]`. */
export function textsOf(given: string | undefined): string[] {
  return (parsedList(given) ?? []).filter((item): item is string => typeof item === 'string' && !item.includes('\0'));
}

function parsedList(given: string | undefined): unknown[] | null {
  try {
    const value: unknown = JSON.parse(given ?? '');
    return Array.isArray(value) ? value : null;
  } catch {
    return null;
  }
}
