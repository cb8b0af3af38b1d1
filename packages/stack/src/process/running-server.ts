/** A server somebody can use, wherever it came from. */
export interface RunningServer {
  /** As it stands in DATABASE_URL, KAFKA_BROKERS or REDIS_URL. */
  address: string;
  /** Resolves when it ends by itself; never for a server that is not ours. */
  ended: Promise<void>;
  /** The end of what it logged. */
  lastLog(): string;
  stop(): Promise<void>;
}

/** A server that was there before and stays there. */
export function serverAt(address: string): RunningServer {
  return { address, ended: new Promise(() => {}), lastLog: () => '', stop: async () => {} };
}
