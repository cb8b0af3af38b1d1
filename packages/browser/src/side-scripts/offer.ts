import { page, readFromWindow } from '../page/globals.ts';
import type { SideScripts } from './load-side-script.ts';

/** Stores a side script's exports where the library can read them. */
export function registerSideScripts(scripts: Partial<SideScripts>): void {
  if (page) page.__millrace = { ...readFromWindow('__millrace'), ...scripts };
}
