import type { Feature } from '../client/core.ts';
import type { Properties } from '../client/values.ts';
import { page } from '../page/globals.ts';
import { browserOf } from './browser-names.ts';

/** Browser, system and kind of device, by the names the service's users filter by. */
export const describeDevice: Feature = ({ addProperties }) => {
  const properties = page ? deviceProperties(page.navigator) : {};
  addProperties(() => properties);
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
    $device_type: typeOf($device, userAgentData?.platform === 'Android'),
    $browser_version: version,
  };
}

function typeOf(device: string, isAndroid: boolean): string {
  if (/iPad|tablet/i.test(device)) return 'Tablet';
  if (/Nintendo|Xbox|PlayStation/i.test(device)) return 'Console';
  return device || isAndroid ? 'Mobile' : 'Desktop';
}

const windowsVersions: Record<string, string> = { '6.1': '7', '6.2': '8', '6.3': '8.1', '10.0': '10' };

function systemOf(agent: string): [name: string, version: string] {
  const versionBy = (pattern: RegExp) => {
    const [, major, minor, patch = '0'] = pattern.exec(agent) ?? [];
    return major ? [major, minor, patch].join('.') : '';
  };
  if (/Xbox/i.test(agent)) return ['Xbox', ''];
  if (/PlayStation/i.test(agent)) return ['PlayStation', ''];
  if (/Nintendo/i.test(agent)) return ['Nintendo', ''];
  if (/Windows/i.test(agent)) return ['Windows', windowsVersions[/NT ([\d.]+)/.exec(agent)?.[1] ?? ''] ?? ''];
  if (/iPhone|iPad|iPod/.test(agent)) return ['iOS', versionBy(/OS (\d+)_(\d+)_?(\d+)?/)];
  if (/Android/i.test(agent)) return ['Android', versionBy(/Android (\d+)\.(\d+)\.?(\d+)?/i)];
  if (/Mac/i.test(agent)) return ['Mac OS X', versionBy(/Mac OS X (\d+)[_.](\d+)[_.]?(\d+)?/i)];
  if (/CrOS/.test(agent)) return ['Chrome OS', ''];
  return [/Linux|debian/i.test(agent) ? 'Linux' : '', ''];
}

function deviceOf(agent: string): string {
  const [named] = /Nintendo|PlayStation|Xbox|iPad|iPod|iPhone/i.exec(agent) ?? [];
  if (named) return named === 'iPod' ? 'iPod Touch' : named;
  if (/Android/i.test(agent)) return /Mobile/.test(agent) ? 'Android' : 'Android Tablet';
  if (/Mobile/i.test(agent)) return 'Generic mobile';
  return /Tablet(?! pc)/i.test(agent) ? 'Generic tablet' : '';
}
