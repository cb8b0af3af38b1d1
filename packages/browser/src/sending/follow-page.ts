import { page } from '../page/globals.ts';

/** What happens to a page, as far as its events are concerned. */
export interface PageLife {
  /** The visitor sees it: at once, or when a page that was loaded ahead is opened. */
  onSeen(): void;
  /** It may never be shown again, and nobody would say so. */
  onHidden(): void;
  /** It comes back by the back or forward button. */
  onReturn(): void;
  onOnline(): void;
  /** Now and then. */
  onTick(): void;
}

const tickMs = 10_000;

export function followPage({ onSeen, onHidden, onReturn, onOnline, onTick }: PageLife): void {
  const document: (Document & { prerendering?: boolean }) | undefined = page?.document;
  page?.addEventListener('online', onOnline);
  page?.addEventListener('pageshow', ({ persisted }) => persisted && onReturn());
  document?.addEventListener('visibilitychange', () => document.hidden && onHidden());
  setInterval(onTick, tickMs);
  if (document?.prerendering) document.addEventListener('prerenderingchange', onSeen, { once: true });
  else onSeen();
}
