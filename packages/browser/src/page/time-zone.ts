import { attempt } from './globals.ts';

let zone: string | undefined;

/** Of this browser, as `Europe/Berlin`. Remembered, since browsers take longer to say it than all else of the page. */
export function timeZone(): string | undefined {
  zone ??= attempt(() => Intl.DateTimeFormat().resolvedOptions().timeZone);
  return zone;
}
