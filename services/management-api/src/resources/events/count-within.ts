interface SizedEvent {
  bytes: number;
  person: { uuid: string; properties: Record<string, unknown> };
}

/**
 * How many events fit into `maxBytes`, at least one: each counts with its person, who may be much larger and is shown
 * with every event.
 */
export function countWithin(events: readonly SizedEvent[], maxBytes: number): number {
  const personBytes = new Map<string, number>();
  let total = 0;
  for (const [index, { bytes, person }] of events.entries()) {
    const known = personBytes.get(person.uuid) ?? JSON.stringify(person.properties).length;
    personBytes.set(person.uuid, known);
    total += bytes + known;
    if (total > maxBytes) return Math.max(1, index);
  }
  return events.length;
}
