/** Where a run reads from and writes to; the process's own in `main.ts`. */
export interface Terminal {
  env: Record<string, string | undefined>;
  /** Where it is called: a system that `npm start` runs there is found. */
  directory?: string;
  /** Results only, so that they can be piped. */
  out: { write(text: string): unknown };
  /** Errors and notes. */
  err: { write(text: string): unknown; isTTY?: boolean };
  /** Standard input, for commands that read it. */
  input?: NodeJS.ReadableStream;
  /** Aborts when the person wants a command that runs on to end; asked for by such commands only. */
  readonly interrupted?: AbortSignal;
}
