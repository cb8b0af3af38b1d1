import { ofWindow, page } from '../page/globals.ts';
import type { SideScripts } from './load-side-script.ts';

/** Leaves what a script is where the library finds it. */
export function offer(scripts: Partial<SideScripts>): void {
  if (page) page.__millrace = { ...ofWindow('__millrace'), ...scripts };
}
