import type { Options } from '../client/client.ts';
import type { Emitter } from '../client/core.ts';
import { page } from '../page/globals.ts';
import { type Area, memoryArea, storageArea, webStorage } from '../storage/areas.ts';
import { cookieArea } from '../storage/cookie-area.ts';

export type ConsentStatus = 'granted' | 'denied' | 'pending';

export interface Consent {
  status(): ConsentStatus;
  /** Said so, or not asked yet where nothing may be captured before. */
  isOptedOut(): boolean;
  set(isGranted: boolean): void;
  forget(): void;
}

/** What consent tools write, too. */
const yes = [true, 'true', 1, '1', 'yes'];
const no = [false, 'false', 0, '0', 'no'];

export function createConsent(options: Options, signals: Emitter): Consent {
  const name = `__ph_opt_in_out_${options.token}`;
  const area = consentArea(options);
  const status = (): ConsentStatus => {
    if (options.respect_dnt && isTrackingRefused()) return 'denied';
    const said = area.read(name)?.replace(/"/g, '');
    if (yes.includes(said ?? '')) return 'granted';
    return no.includes(said ?? '') ? 'denied' : 'pending';
  };
  return {
    status,
    isOptedOut: () => status() === 'denied' || (status() === 'pending' && options.opt_out_capturing_by_default),
    set(isGranted) {
      area.write(name, isGranted ? '1' : '0');
      signals.emit('consent', { isGranted });
    },
    forget: () => area.remove(name),
  };
}

function consentArea(options: Options): Area {
  const local = webStorage('localStorage');
  if (options.opt_out_capturing_persistence_type === 'localStorage' && local) return storageArea(local);
  return cookieArea(options) ?? memoryArea();
}

/** Do Not Track, and Global Privacy Control, which came after it. */
function isTrackingRefused(): boolean {
  const { doNotTrack, globalPrivacyControl } = { ...flagsOf(page?.navigator) };
  return [doNotTrack, globalPrivacyControl].some((said) => yes.includes(String(said)));
}

function flagsOf(navigator: Navigator | undefined): { doNotTrack?: unknown; globalPrivacyControl?: unknown } {
  return navigator ?? {};
}
