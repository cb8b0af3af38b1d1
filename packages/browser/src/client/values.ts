export type JsonValue = string | number | boolean | null | undefined | JsonValue[] | JsonObject;
export type JsonObject = { [key: string]: JsonValue };

/**
 * Properties of an event or a person, by name. Names that begin with `$` have a special meaning to the service. The
 * type allows all values, because applications pass interfaces, dates and unknown values. Capturing an event removes
 * values that JSON cannot represent.
 */
export type Properties = Record<string, Property>;
// biome-ignore lint/suspicious/noExplicitAny: no other type accepts interfaces and lets `before_send` change fields
export type Property = any;

export type FlagValue = boolean | string;

/** An event as the client queues and sends it. */
export interface CaptureResult {
  /** A UUIDv7 that the client generates. If an event is sent twice, the service stores it only once. */
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
  skip_client_rate_limiting?: boolean;
}
