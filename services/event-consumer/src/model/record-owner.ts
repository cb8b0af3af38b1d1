/** What a record says about who owns it. */
export interface RecordOwner {
  token: string;
  /** What the gateway found out; absent when it could not ask, and in records of former versions. */
  environment_id?: number | undefined;
  /** When the record was taken, ISO 8601; a key may have been replaced since. */
  now: string;
}
