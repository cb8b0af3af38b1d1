// Reads the installation's URL, for features that must not depend on request headers.

import type { ApiRequest } from '@millrace/http';
import { AppError } from '@millrace/runtime';

/**
 * Returns the URL that is registered with identity providers and in passkeys. It comes only from the configuration
 * (`PUBLIC_API_URL`), because clients choose the `Host` header.
 * @throws AppError `invalid` with code `public_url_required` if the operator has not set the URL
 */
export function requirePublicUrl({ publicUrl }: Pick<ApiRequest, 'publicUrl'>): string {
  if (publicUrl !== null) return publicUrl;
  throw new AppError(
    'invalid',
    'Single sign-on and passkeys require PUBLIC_API_URL. Ask the operator of this installation to set it.',
    { code: 'public_url_required' },
  );
}
