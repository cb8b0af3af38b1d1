import { libraryVersion } from '../client/library-version.ts';
import type { Properties } from '../client/values.ts';
import { attempt, page } from '../page/globals.ts';

let zone: string | undefined;

/** What is true of the page and its window at this moment. */
export function pageProperties(): Properties {
  if (!page) return {};
  // Browsers take longer to say it than all the rest together.
  zone ??= attempt(() => Intl.DateTimeFormat().resolvedOptions().timeZone);
  const { location, navigator, screen } = page;
  const { userAgent: agent, language } = navigator;
  return {
    $timezone: zone,
    $timezone_offset: new Date().getTimezoneOffset(),
    $current_url: location.href,
    $host: location.host,
    $pathname: location.pathname,
    $raw_user_agent: agent.length > 1000 ? `${agent.slice(0, 997)}...` : agent,
    $browser_language: language,
    $browser_language_prefix: language?.split('-')[0],
    $screen_height: screen?.height,
    $screen_width: screen?.width,
    $viewport_height: page.innerHeight,
    $viewport_width: page.innerWidth,
    $lib: 'web',
    $lib_version: libraryVersion,
    $insert_id: randomText() + randomText(),
    $time: Date.now() / 1000,
  };
}

function randomText(): string {
  return Math.random().toString(36).slice(2, 10);
}
