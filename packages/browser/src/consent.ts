// Manages the visitor's consent to capturing. The visitor can change the consent, and the browser stores it.

import type { Options } from './client/client.ts';
import type { Emitter } from './client/core.ts';
import { page } from './page/globals.ts';
import {
  canStore,
  createCookieStorage,
  openWebStorage,
  type TextStorage,
  toTextStorage,
} from './storage/text-storage.ts';

export interface Consent {
  status(): 'granted' | 'denied' | 'pending';
  /** Returns true if the visitor has opted out, or has not decided yet while `opt_out_capturing_by_default` is set. */
  isOptedOut(): boolean;
  set(isGranted: boolean): void;
  forget(): void;
}

export function createConsent(options: Options, signals: Emitter): Consent {
  const name = `__ph_opt_in_out_${options.token}`;
  const storage = chooseStorage(name, options);
  const status: Consent['status'] = () => {
    if (options.respect_dnt && isTrackingRefused()) return 'denied';
    // Consent management tools also write the consent value, with words such as `yes` or `false`.
    const value = storage.read(name) ?? '';
    if (isYes(value)) return 'granted';
    return /^"?(false|0|no)"?$/.test(value) ? 'denied' : 'pending';
  };
  return {
    status,
    isOptedOut: () => status() === 'denied' || (status() === 'pending' && options.opt_out_capturing_by_default),
    set(isGranted) {
      storage.write(name, isGranted ? '1' : '0');
      signals.emit('consent', { isGranted });
    },
    forget: () => storage.remove(name),
  };
}

/**
 * Returns the storage for the consent value. If the application now uses a different storage option, moves the value
 * from the former storage.
 */
function chooseStorage(name: string, options: Options): TextStorage {
  const [local, cookies] = [toTextStorage(openWebStorage('localStorage')), createCookieStorage(options)];
  const isCookie = options.opt_out_capturing_persistence_type === 'cookie' && canStore(cookies);
  const [storage, other] = isCookie ? [cookies, local] : [local, cookies];
  const movedValue = other.read(name);
  if (movedValue === null) return storage;
  if (storage.read(name) === null) storage.write(name, movedValue);
  other.remove(name);
  return storage;
}

function isYes(value: unknown): boolean {
  return /^"?(true|1|yes)"?$/.test(String(value));
}

/** Returns whether the browser sends Do Not Track or its successor, Global Privacy Control. */
function isTrackingRefused(): boolean {
  const { doNotTrack, globalPrivacyControl } = Object(page?.navigator) as Record<string, unknown>;
  return isYes(doNotTrack) || isYes(globalPrivacyControl);
}
