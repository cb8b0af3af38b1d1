import type { StoryEvent } from './write-story.ts';

export interface ExpectedPerson {
  distinctIds: string[];
  /** Person properties without `$creator_event_uuid`, which depends on how partitions interleave. */
  properties: Record<string, unknown>;
  isIdentified: boolean;
  /**
   * Creation time. Null if it depends on how partitions interleave, as for merged IDs whose first event is not in the
   * story.
   */
  createdAt: string | null;
  /** The main distinct ID. Null if it depends on how partitions interleave. */
  mainDistinctId: string | null;
}

export interface ExpectedGroup {
  type: string;
  key: string;
  properties: Record<string, unknown>;
}

export interface ExpectedState {
  /** Events by UUID, without duplicates. */
  events: Map<string, StoryEvent>;
  /** Sorted by their first distinct ID. */
  persons: ExpectedPerson[];
  /** Sorted by type and then by key. */
  groups: ExpectedGroup[];
}

/**
 * Computes the expected content of the database from the sent events and the documented rules, with a different
 * algorithm than the service. Persons are the connected components of all merges. A person has the properties of all of
 * the person's IDs, and the events of each ID are replayed separately. The algorithm is correct only for the streams of
 * `writeStory`.
 */
export function computeExpectedState(streams: readonly (readonly StoryEvent[])[]): ExpectedState {
  const events = new Map<string, StoryEvent>();
  for (const event of streams.flat()) if (!events.has(event.uuid)) events.set(event.uuid, event);
  return { events, persons: expectedPersons([...events.values()]), groups: expectedGroups([...events.values()]) };
}

function isAnonymous(event: StoryEvent): boolean {
  return event.properties.$process_person_profile === false;
}

/** Returns the ID that an event merges into its distinct ID, or null for an event without a merge. */
function mergedWith({ event, properties }: StoryEvent): string | null {
  if (event === '$identify' && '$anon_distinct_id' in properties) return String(properties.$anon_distinct_id);
  if (event === '$create_alias' || event === '$merge_dangerously') return String(properties.alias);
  return null;
}

function expectedPersons(events: readonly StoryEvent[]): ExpectedPerson[] {
  const root = new Map<string, string>();
  const find = (id: string): string => {
    const parent = root.get(id) ?? id;
    root.set(id, parent);
    return parent === id ? id : find(parent);
  };
  for (const event of events) {
    if (isAnonymous(event)) continue;
    find(event.distinct_id);
    const other = mergedWith(event);
    if (other !== null) root.set(find(other), find(event.distinct_id));
  }
  const members = new Map<string, string[]>();
  for (const id of root.keys()) members.set(find(id), [...(members.get(find(id)) ?? []), id]);
  const eventsOf = groupBy(
    events.filter((event) => !isAnonymous(event)),
    (event) => find(event.distinct_id),
  );
  return [...members]
    .map(([component, ids]) => {
      const own = eventsOf.get(component) ?? [];
      const merges = own.filter((event) => mergedWith(event) !== null);
      return {
        distinctIds: ids.sort(),
        properties: Object.assign({}, ...ids.map((id) => propertiesLeftBy(own.filter((e) => e.distinct_id === id)))),
        isIdentified: merges.length > 0,
        createdAt: createdAt(own, merges),
        mainDistinctId: mainDistinctId(ids, merges),
      };
    })
    .sort((a, b) => ((a.distinctIds[0] ?? '') < (b.distinctIds[0] ?? '') ? -1 : 1));
}

/**
 * Returns a person's creation time, or null if it is not known. It is known if the person has no merges, or if the
 * story contains the person's first event, which has the earliest timestamp.
 */
function createdAt(own: readonly StoryEvent[], merges: readonly StoryEvent[]): string | null {
  const isCertain = merges.length === 0 || own.some(({ event }) => event === 'signed up');
  return isCertain ? (own.map(({ timestamp }) => timestamp).sort()[0] ?? '') : null;
}

/**
 * Returns a person's main distinct ID, or null if it is not known. It is known if the person has no merges, or if all
 * merges are in one partition and only the last merge is an alias.
 */
function mainDistinctId(ids: readonly string[], merges: readonly StoryEvent[]): string | null {
  if (merges.length === 0) return ids[0] ?? null;
  const last = merges.at(-1);
  const stand = new Set(merges.map(({ distinct_id }) => distinct_id));
  return stand.size === 1 && last?.event === '$create_alias' ? String(last.properties.alias) : null;
}

/**
 * Computes the properties from the events of one ID, in order (docs/ingestion-rules.md#person-properties). Group
 * identify events do not change a person.
 */
function propertiesLeftBy(events: readonly StoryEvent[]): Record<string, unknown> {
  const properties: Record<string, unknown> = {};
  for (const event of events) {
    if (event.event === '$groupidentify' || event.event === '$group_identify') continue;
    const once = { ...(event.properties.$set_once as object), ...event.$set_once };
    for (const [key, value] of Object.entries(once)) properties[key] ??= value;
    Object.assign(properties, event.properties.$set, event.$set);
    const unset = event.$unset ?? event.properties.$unset;
    for (const key of Array.isArray(unset) ? unset : []) delete properties[key];
  }
  return properties;
}

function expectedGroups(events: readonly StoryEvent[]): ExpectedGroup[] {
  const groups = new Map<string, ExpectedGroup>();
  for (const { event, properties } of events) {
    if (event !== '$groupidentify' && event !== '$group_identify') continue;
    const [type, key] = [String(properties.$group_type), String(properties.$group_key)];
    const group = groups.get(`${type} ${key}`) ?? { type, key, properties: {} };
    Object.assign(group.properties, properties.$group_set);
    groups.set(`${type} ${key}`, group);
  }
  return [...groups.keys()].sort().flatMap((name) => groups.get(name) ?? []);
}

/** Groups items by key, preserving their order. (`Map.groupBy` requires Node.js 21.) */
export function groupBy<K, V>(items: readonly V[], keyOf: (item: V) => K): Map<K, V[]> {
  const groups = new Map<K, V[]>();
  for (const item of items) {
    const group = groups.get(keyOf(item));
    if (group) group.push(item);
    else groups.set(keyOf(item), [item]);
  }
  return groups;
}
