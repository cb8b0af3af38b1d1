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

/** What to ask the next page with. */
export const cursorOf = ({ next }: Cursor<unknown>): string | undefined =>
  next === null ? undefined : (new URL(next, location.href).searchParams.get('cursor') ?? undefined);
