/** A group in the API's format. */
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

/** Returns a group's display name from its property `name`, or null if the group has no name. */
export function getGroupName({ group_properties: { name } }: Group): string | null {
  return typeof name === 'string' && name.trim() !== '' ? name.slice(0, 200) : null;
}
