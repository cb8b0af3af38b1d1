/** An event as the story sends it, and as the checker reads it: nothing is known here but the wire. */
export interface StoryEvent {
  uuid: string;
  event: string;
  distinct_id: string;
  timestamp: string;
  properties: Record<string, unknown>;
  /** Event-level person updates, as several SDKs send them. */
  $set?: Record<string, unknown>;
  $set_once?: Record<string, unknown>;
  $unset?: string[];
}
