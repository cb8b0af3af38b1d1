import { ofWindow, page } from '../page/globals.ts';
import type { SideScripts } from './load-side-script.ts';

/** Stores a script's exports where the library finds them. */
export function offerSideScripts(scripts: Partial<SideScripts>): void {
  if (page) page.__millrace = { ...ofWindow('__millrace'), ...scripts };
}
