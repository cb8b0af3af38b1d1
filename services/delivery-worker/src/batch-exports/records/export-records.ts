/** One event to be exported; JSON columns as text, which nobody here looks into. */
export interface EventRecord {
  uuid: string;
  event: string;
  distinct_id: string;
  person_id: string;
  properties: string;
  person_properties: string;
  elements_chain: string;
  timestamp: Date;
  created_at: Date;
}

/** One distinct id with its person. */
export interface PersonRecord {
  distinct_id: string;
  person_id: string;
  properties: string;
  is_identified: boolean;
  version: string;
  person_distinct_id_version: string;
  created_at: Date;
}
