import type { Properties } from './values.ts';

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
