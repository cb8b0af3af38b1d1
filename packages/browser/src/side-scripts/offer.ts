import { page, readFromWindow } from '../page/globals.ts';
import type { SideScripts } from './load-side-script.ts';

/** Stores the exports of a side script where the library looks for them. */
export function offerSideScripts(scripts: Partial<SideScripts>): void {
  if (page) page.__millrace = { ...readFromWindow('__millrace'), ...scripts };
}
