import { libraryVersion } from '../client/library-version.ts';
import type { Properties } from '../client/values.ts';
import { page } from '../page/globals.ts';
import { timeZone } from '../page/time-zone.ts';

/** What the page and its window show at this moment. */
export function pageProperties(): Properties {
  if (!page) return {};
  const { location } = page;
  return {
    $current_url: location.href,
    $host: location.host,
    $pathname: location.pathname,
    $viewport_height: page.innerHeight,
    $viewport_width: page.innerWidth,
  };
}

/** What does not change by what a visitor does. */
export function browserProperties(): Properties {
  if (!page) return {};
  const { navigator, screen } = page;
  const { userAgent: agent, language } = navigator;
  return {
    $timezone: timeZone(),
    $timezone_offset: new Date().getTimezoneOffset(),
    $raw_user_agent: agent.length > 1000 ? `${agent.slice(0, 997)}...` : agent,
    $browser_language: language,
    $browser_language_prefix: language?.split('-')[0],
    $screen_height: screen?.height,
    $screen_width: screen?.width,
    $lib: 'web',
    $lib_version: libraryVersion,
  };
}
