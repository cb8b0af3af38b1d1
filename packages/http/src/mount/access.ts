import type { Scope } from '@millrace/contracts';
import type { ApiRequest } from './api-request.ts';

/** How a service knows its callers. The pipeline calls both in this order, before anything of the route runs. */
export interface Access<Caller> {
  /** @throws AppError `unauthenticated`. */
  authenticate(request: ApiRequest): Promise<Caller>;
  /** @throws AppError `forbidden` when the caller's key lacks the scope. */
  authorize(caller: Caller, scope: Scope): void;
}
