// Detects the visitor's browser, operating system and device type.

import type { Feature } from './client/core.ts';
import type { Properties } from './client/values.ts';
import { page } from './page/globals.ts';
export const addDeviceProperties: Feature = ({ addProperties }) => {
  let known: Properties | undefined;
  addProperties(() => {
    known ??= page ? deviceProperties(page.navigator) : {};
    return known;
  });
  return undefined;
};

function deviceProperties(
  navigator: Navigator & { brave?: unknown; userAgentData?: { platform?: string } },
): Properties {
  const { userAgent: agent, brave, userAgentData } = navigator;
  const { name, version } = browserOf(agent, Boolean(brave));
  const [$os, $os_version] = systemOf(agent);
  const $device = deviceOf(agent);
  return {
    ...($os && { $os }),
    ...($os_version && { $os_version }),
    ...(name && { $browser: name }),
    ...($device && { $device }),
    $device_type: typeOf($device || (userAgentData?.platform === 'Android' ? 'Android' : '')),
    $browser_version: version,
  };
}

function typeOf(device: string): string {
  if (/iPad|tablet/i.test(device)) return 'Tablet';
  if (consoles.test(device)) return 'Console';
  return device ? 'Mobile' : 'Desktop';
}

const consoles = /Nintendo|PlayStation|Xbox/;
const windowsVersions: Record<string, string> = { '6.1': '7', '6.2': '8', '6.3': '8.1', '10.0': '10' };

/**
 * Operating systems, each with a pattern for its user agents. The capture groups are the segments of the version
 * number.
 */
const systems: [name: string, sign: RegExp][] = [
  ['Windows', /Windows(?:.*NT ([\d.]+))?/],
  ['iOS', /iP(?:hone|ad|od)(?:.*OS (\d+)_(\d+)_?(\d+)?)?/],
  ['Android', /Android(?: (\d+)\.(\d+)\.?(\d+)?)?/],
  ['Mac OS X', /Mac(?:.*OS X (\d+)[_.](\d+)[_.]?(\d+)?)?/],
  ['Chrome OS', /CrOS/],
  ['Linux', /Linux|debian/i],
];

function systemOf(agent: string): [name: string, version: string] {
  const [game] = consoles.exec(agent) ?? [];
  if (game) return [game, ''];
  for (const [name, sign] of systems) {
    const found = sign.exec(agent);
    if (!found) continue;
    const [, major = '', minor, patch = '0'] = found;
    return [name, minor ? [major, minor, patch].join('.') : (windowsVersions[major] ?? '')];
  }
  return ['', ''];
}

function deviceOf(agent: string): string {
  const [named] = /Nintendo|PlayStation|Xbox|iPad|iPod|iPhone/.exec(agent) ?? [];
  if (named) return named === 'iPod' ? 'iPod Touch' : named;
  const isMobile = /Mobile/.test(agent);
  if (/Android/.test(agent)) return isMobile ? 'Android' : 'Android Tablet';
  if (isMobile) return 'Generic mobile';
  return /Tablet(?! pc)/i.test(agent) ? 'Generic tablet' : '';
}

/**
 * Browser names. The pattern after `=` matches the substring of the user agent before the version. Without a pattern,
 * that substring is the name and a slash. The first match wins, because most user agents also include the names of
 * older browsers.
 */
const browsers =
  'Opera Mini=OPR/.*Mini,Opera=OPR/,Oculus Browser=OculusBrowser/,Samsung Internet=SamsungBrowser/,Microsoft Edge=Edge?/,' +
  'Vivaldi,Yandex=YaBrowser/,Whale,DuckDuckGo=Ddg/,DuckDuckGo,Claude,Codex,ChatGPT,Facebook Mobile=FBIOS,' +
  'UC Browser=UCBrowser/,UC Browser=UCWEB/,Chrome iOS=CriOS/,Chrome,Firefox iOS=FxiOS/,Mobile Safari=Mobile.*Safari,' +
  'Safari,Firefox';

function browserOf(agent: string, isBrave: boolean): { name: string; version: number | null } {
  if (isBrave) return { name: 'Brave', version: versionAfter('Brave/', agent) };
  for (const browser of browsers.split(',')) {
    const [name = '', sign = `${name}/`] = browser.split('=');
    if (!new RegExp(sign).test(agent)) continue;
    return { name, version: versionAfter(name.endsWith('Safari') ? 'Version/' : sign, agent) };
  }
  return { name: '', version: null };
}

function versionAfter(sign: string, agent: string): number | null {
  const version = new RegExp(`${sign}(\\d+(\\.\\d+)?)`).exec(agent)?.[1];
  return version ? Number(version) : null;
}
