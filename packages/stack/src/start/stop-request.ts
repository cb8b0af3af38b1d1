/** Somebody, or something that went wrong, wants the system to stop. */
export interface StopRequest {
  /** Resolves with the first request. */
  made: Promise<void>;
  isMade(): boolean;
  /** Asks to stop because of a failure. */
  fail(reason: string): void;
  /** What failed, if that is why. */
  failure(): string | undefined;
}

/**
 * Listens to Ctrl-C, SIGTERM and the end of the terminal. A second signal ends this process at once; the reaper and the
 * services' own watch over their parent do the rest.
 */
export function createStopRequest(): StopRequest {
  let isMade = false;
  let failure: string | undefined;
  let resolveMade = () => {};
  const made = new Promise<void>((resolve) => {
    resolveMade = resolve;
  });
  const make = () => {
    isMade = true;
    resolveMade();
  };
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    process.on(signal, () => {
      if (isMade && signal !== 'SIGHUP') process.exit(130);
      make();
    });
  }
  // The reader of our output may be gone before us (`npm start | head`).
  for (const stream of [process.stdout, process.stderr]) stream.on('error', () => {});
  return {
    made,
    isMade: () => isMade,
    fail(reason) {
      if (!isMade) failure = reason;
      make();
    },
    failure: () => failure,
  };
}
