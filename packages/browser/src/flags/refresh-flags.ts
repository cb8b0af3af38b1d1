import type { Core } from '../client/core.ts';
import { page } from '../page/globals.ts';
import { longestTimerMs } from '../page/longest-timer.ts';

/**
 * Calls again and again in a page that stays open; what is due while nobody sees the page, when it is seen again. Returns the
 * way to stop it.
 */
export function refreshWhileVisible({ options }: Core, refresh: () => void): () => void {
  if (!page || !(options.remote_config_refresh_interval_ms > 0)) return () => {};
  let isDue = false;

  function refreshIfDue(): void {
    if (!isDue || document.visibilityState === 'hidden') return;
    isDue = false;
    refresh();
  }
  const timer = setInterval(
    () => {
      isDue = true;
      refreshIfDue();
    },
    Math.min(options.remote_config_refresh_interval_ms, longestTimerMs),
  );
  document.addEventListener('visibilitychange', refreshIfDue);
  return () => {
    clearInterval(timer);
    document.removeEventListener('visibilitychange', refreshIfDue);
  };
}
