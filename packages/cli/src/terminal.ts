/** Where a run reads from and writes to; the process's own in `main.ts`. */
export interface Terminal {
  env: Record<string, string | undefined>;
  /** Results only, so that they can be piped. */
  out: { write(text: string): unknown };
  /** Errors and notes. */
  err: { write(text: string): unknown };
}
