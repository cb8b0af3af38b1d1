import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';
import { environment } from '@millrace/runtime';

/** The path of a Chromium: CHROMIUM_PATH, which `npm test` sets, or one that is on the PATH; null when there is none. */
export function findChromium(): string | null {
  return find('CHROMIUM_PATH', ['chromium', 'chromium-browser', 'google-chrome-stable', 'google-chrome']);
}

/** The path of a Chromium that has windows, by WINDOWED_CHROMIUM_PATH; otherwise any Chromium. */
export function findWindowedChromium(): string | null {
  const { WINDOWED_CHROMIUM_PATH: given } = environment();
  return given && canRun(given) ? given : findChromium();
}

/** The same of Firefox, by FIREFOX_PATH. */
export function findFirefox(): string | null {
  return find('FIREFOX_PATH', ['firefox-esr', 'firefox']);
}

/** The program that drives WebKitGTK's browser, by WEBKIT_DRIVER_PATH. */
export function findWebKitDriver(): string | null {
  return find('WEBKIT_DRIVER_PATH', ['WebKitWebDriver']);
}

function find(variable: string, names: string[]): string | null {
  const { [variable]: given, PATH = '' } = environment();
  const candidates = PATH.split(delimiter).flatMap((directory) => names.map((name) => join(directory, name)));
  return [...(given ? [given] : []), ...candidates].find(canRun) ?? null;
}

function canRun(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
