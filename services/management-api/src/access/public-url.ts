// The address of the installation, for everything that must not depend on a header of the request.

import type { ApiRequest } from '@millrace/http';
import { AppError } from '@millrace/runtime';

/**
 * The address that identity providers and passkeys are bound to. Any client can choose its `Host` header, so only the
 * configured address (`PUBLIC_API_URL`) counts.
 *
 * @throws AppError `invalid` with code `public_url_required` if the operator has not set it.
 */
export function requirePublicUrl({ publicUrl }: Pick<ApiRequest, 'publicUrl'>): string {
  if (publicUrl !== null) return publicUrl;
  throw new AppError(
    'invalid',
    'Single sign-on and passkeys require PUBLIC_API_URL. Ask the operator of this installation to set it.',
    { code: 'public_url_required' },
  );
}
