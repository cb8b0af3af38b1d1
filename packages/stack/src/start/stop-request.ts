/** A request to stop the system, from the user or because of a failure. */
export interface StopRequest {
  /** Resolves at the first request. */
  made: Promise<void>;
  isMade(): boolean;
  fail(reason: string): void;
  /** If the system stops because of a failure, returns a description of the failure. */
  failure(): string | undefined;
}

/**
 * Listens for Ctrl-C, SIGTERM and the end of the terminal. A second signal ends this process immediately. The reaper
 * then ends the servers, and the services end because their parent process has ended.
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
  // The program that reads the output can exit early (`npm start | head`).
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
