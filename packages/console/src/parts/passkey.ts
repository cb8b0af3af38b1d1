// Creates passkeys, and signs in with passkeys.

import { words } from '../words.ts';

/** Returns whether the browser supports passkeys. Without support, pages do not offer passkeys. */
export const supportsPasskeys = () => typeof PublicKeyCredential === 'function';

type Library = typeof import('@simplewebauthn/browser');
type Options<Name extends 'startAuthentication' | 'startRegistration'> = Parameters<Library[Name]>[0]['optionsJSON'];

/**
 * Signs in with a passkey.
 * @param options the options that the API returned
 * @throws Error with a message for the user if the user or the browser cancels
 */
export async function requestPasskey(options: unknown): Promise<object> {
  const { startAuthentication } = await import('@simplewebauthn/browser');
  return startAuthentication({ optionsJSON: options as Options<'startAuthentication'> }).catch(givenUp);
}

/** Creates a passkey. @throws the same errors as `requestPasskey` */
export async function createPasskey(options: unknown): Promise<object> {
  const { startRegistration } = await import('@simplewebauthn/browser');
  return startRegistration({ optionsJSON: options as Options<'startRegistration'> }).catch(givenUp);
}

function givenUp(error: unknown): never {
  const { name } = error as { name?: unknown };
  if (name === 'InvalidStateError') throw new Error(words.passkeyThere);
  throw new Error(words.passkeyGivenUp, { cause: error });
}
