export type JsonValue = string | number | boolean | null | undefined | JsonValue[] | JsonObject;
export type JsonObject = { [key: string]: JsonValue };

/**
 * Properties of an event or a person, by name. Names that begin with `$` have a meaning for the service. Values can
 * have any type, because applications pass interfaces, dates and unknown values. When an event is captured, values that
 * JSON cannot represent are left out.
 */
export type Properties = Record<string, Property>;
// biome-ignore lint/suspicious/noExplicitAny: no other type accepts interfaces and lets `before_send` change fields
export type Property = any;

export type FlagValue = boolean | string;

/** An event in the form in which it is queued and sent. */
export interface CaptureResult {
  /** A UUIDv7 that the client generates, so that an event that is sent twice is stored only once. */
  uuid: string;
  event: string;
  properties: Properties;
  $set?: Properties;
  $set_once?: Properties;
  $unset?: string[];
  timestamp: Date;
}

export interface CaptureOptions {
  $set?: Properties;
  $set_once?: Properties;
  $unset?: string[];
  uuid?: string;
  timestamp?: Date;
  send_instantly?: boolean;
  transport?: 'XHR' | 'fetch' | 'sendBeacon';
  /** Whether to skip the client's own rate limit. */
  skip_client_rate_limiting?: boolean;
}
