import { attempt, page } from './globals.ts';

let known: string | undefined;

/** Its name, like `Europe/Paris`; undefined where a browser does not say it. */
export function timeZone(): string | undefined {
  known ??= attempt(read);
  return known;
}

/** `Temporal` just says it. For the other way browsers load all they know of a language: tens of milliseconds, on a phone more. */
function read(): string {
  const { Temporal: time } = page as { Temporal?: { Now?: { timeZoneId?(): string } } };
  return time?.Now?.timeZoneId?.() ?? Intl.DateTimeFormat().resolvedOptions().timeZone;
}
