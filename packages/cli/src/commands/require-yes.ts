import { UsageError } from '../refusals.ts';

/** Asks for the option `--yes` before something is deleted for good. @throws UsageError saying what it is. */
export function requireYes(isConfirmed: boolean | undefined, what: string): void {
  if (isConfirmed === true) return;
  throw new UsageError(`--yes: this deletes ${what}, which cannot be undone; give --yes to do it`);
}
