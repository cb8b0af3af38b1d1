export interface PersonRow {
  id: string;
  uuid: string;
  main_distinct_id: string;
  properties: Record<string, unknown>;
  is_identified: boolean;
  created_at: Date;
}
