/** A group in the format of the API. */
export interface Group {
  group_type: string | null;
  group_type_index: number;
  group_key: string;
  group_properties: Record<string, unknown>;
  created_at: string;
}

export interface GroupType {
  group_type: string;
  group_type_index: number;
}

/** Returns the display name of a group, which is its property `name`. Returns null if it has none. */
export function nameOfGroup({ group_properties: { name } }: Group): string | null {
  return typeof name === 'string' && name.trim() !== '' ? name.slice(0, 200) : null;
}
