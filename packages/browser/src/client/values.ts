/** Anything that JSON can say. */
export type JsonValue = string | number | boolean | null | undefined | JsonValue[] | JsonObject;
export type JsonObject = { [key: string]: JsonValue };

/**
 * What an event or a person carries, by name. Names that begin with `$` have a meaning to the service. Of any type, as an
 * application has them (interfaces, dates, what is not known): what JSON cannot say is left out when it is captured.
 */
export type Properties = Record<string, Property>;
// biome-ignore lint/suspicious/noExplicitAny: no other type takes an interface, and lets `before_send` change what it knows
export type Property = any;

export type FlagValue = boolean | string;

/** An event as it is queued and sent. */
export interface CaptureResult {
  /** UUIDv7 made here, so that an event that is sent twice is stored once. */
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
  /** Skips the client's own rate limit. */
  skip_client_rate_limiting?: boolean;
}
