import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';
import { readEnvironment } from '@millrace/runtime';

/**
 * Returns the path of Chromium: CHROMIUM_PATH, which `npm test` sets, or a program on the PATH. Returns null if
 * Chromium is not available.
 */
export function findChromium(): string | null {
  return find('CHROMIUM_PATH', ['chromium', 'chromium-browser', 'google-chrome-stable', 'google-chrome']);
}

/**
 * Returns the path of a Chromium that can open windows: WINDOWED_CHROMIUM_PATH if it is set, and otherwise any
 * Chromium.
 */
export function findWindowedChromium(): string | null {
  const { WINDOWED_CHROMIUM_PATH: given } = readEnvironment();
  return given && canRun(given) ? given : findChromium();
}

/** Returns the path of Firefox: FIREFOX_PATH, or a program on the PATH. */
export function findFirefox(): string | null {
  return find('FIREFOX_PATH', ['firefox-esr', 'firefox']);
}

/** Returns the path of WebKitGTK's browser driver: WEBKIT_DRIVER_PATH, or a program on the PATH. */
export function findWebKitDriver(): string | null {
  return find('WEBKIT_DRIVER_PATH', ['WebKitWebDriver']);
}

function find(variable: string, names: string[]): string | null {
  const { [variable]: given, PATH = '' } = readEnvironment();
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
