/** A person as the API shows it. */
export interface Person {
  uuid: string;
  name: string;
  distinct_ids: string[];
  properties: Record<string, unknown>;
  is_identified: boolean;
  created_at: string;
}

/** A page of a list that goes on by `next`. */
export interface Cursor<Item> {
  results: Item[];
  next: string | null;
}
