import { page, readFromWindow } from '../page/globals.ts';
import type { SideScripts } from './load-side-script.ts';

/** Makes a side script's exports available to the library. */
export function registerSideScripts(scripts: Partial<SideScripts>): void {
  if (page) page.__millrace = { ...readFromWindow('__millrace'), ...scripts };
}
