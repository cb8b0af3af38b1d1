/** Settings that both adapters share. Bytes are those of keys, values and headers with a little for framing. */
export interface AppendSettings {
  /** How long a record may wait for company before it is sent. */
  lingerMs: number;
  /** Bytes of one partition in one request at most; also sends before the linger is over. */
  maxBatchBytes: number;
  /** Bytes of one request at most. */
  maxRequestBytes: number;
  /** Bytes accepted and not yet settled, over all calls. Beyond it `append` rejects at once. */
  maxInFlightBytes: number;
  /** After this a call is rejected, whatever has become of its records. More than 2500 breaks the port's promise of 3 s. */
  appendTimeoutMs: number;
  /** Bytes of one record at most. */
  maxRecordBytes: number;
}

/** A broker's default `message.max.bytes` (1,048,588) less the 61 bytes around a batch of one record. */
export const defaultAppendSettings: AppendSettings = {
  lingerMs: 5,
  maxBatchBytes: 900_000,
  maxRequestBytes: 8 * 1024 * 1024,
  maxInFlightBytes: 64 * 1024 * 1024,
  appendTimeoutMs: 2500,
  maxRecordBytes: 1_048_588 - 61,
};

/** The settings among an adapter's options, completed by the defaults. */
export function toAppendSettings(options: Partial<AppendSettings>): AppendSettings {
  const settings = { ...defaultAppendSettings };
  for (const name of Object.keys(defaultAppendSettings) as (keyof AppendSettings)[]) {
    settings[name] = options[name] ?? defaultAppendSettings[name];
  }
  return settings;
}

/** How long one attempt may take: less than a call, so that its records get a second attempt on a new connection. */
export function sendTimeoutOf({ appendTimeoutMs }: AppendSettings): number {
  return Math.max(200, appendTimeoutMs - 400);
}
