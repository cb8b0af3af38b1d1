import { libraryVersion } from '../client/library-version.ts';
import type { Properties } from '../client/values.ts';
import { page } from '../page/globals.ts';
import { timeZone } from '../page/time-zone.ts';

/** What is true of the page and its window at this moment. */
export function pageProperties(): Properties {
  if (!page) return {};
  const { location, navigator, screen } = page;
  const { userAgent: agent, language } = navigator;
  return {
    $timezone: timeZone(),
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
