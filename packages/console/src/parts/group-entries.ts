export function groupEntries<Entry extends { group: string }>(entries: readonly Entry[]): [Entry['group'], Entry[]][] {
  const groups = new Map<Entry['group'], Entry[]>();
  for (const entry of entries) groups.set(entry.group, [...(groups.get(entry.group) ?? []), entry]);
  return [...groups];
}
