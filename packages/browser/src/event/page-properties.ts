import type { Options } from '../client/client.ts';
import { libraryVersion } from '../client/library-version.ts';
import type { Properties } from '../client/values.ts';
import { attempt, page } from '../page/globals.ts';
import { maskAddress } from './campaign.ts';
import { deviceProperties } from './device.ts';

/** What is true of browser, screen and address at this moment. */
export function pageProperties({ mask_personal_data_properties: isMasked }: Options): Properties {
  if (!page) return {};
  const { location, navigator, screen } = page;
  const { userAgent: agent, language } = navigator;
  return {
    ...deviceProperties(navigator),
    $timezone: attempt(() => Intl.DateTimeFormat().resolvedOptions().timeZone),
    $timezone_offset: new Date().getTimezoneOffset(),
    $current_url: maskAddress(location.href, isMasked),
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
