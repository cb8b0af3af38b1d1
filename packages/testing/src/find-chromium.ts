import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';
import { environment } from '@millrace/runtime';

const names = ['chromium', 'chromium-browser', 'google-chrome-stable', 'google-chrome'];

/** The path of a Chromium: CHROMIUM_PATH, which `npm test` sets, or one that is on the PATH; null when there is none. */
export function findChromium(): string | null {
  const { CHROMIUM_PATH, PATH = '' } = environment();
  const candidates = PATH.split(delimiter).flatMap((directory) => names.map((name) => join(directory, name)));
  return [...(CHROMIUM_PATH ? [CHROMIUM_PATH] : []), ...candidates].find(canRun) ?? null;
}

function canRun(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
