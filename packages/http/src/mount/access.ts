import type { MembershipLevel, Scope } from '@millrace/contracts';
import type { ApiRequest } from '../route/api-request.ts';

/** How a service knows its callers. The pipeline calls both in the order of this list; `target` of the route runs before `requireLevel`, the rest of it after. */
export interface Access<Caller> {
  /** Query parameters that `authenticate` reads, on every route. */
  readonly queryParameters?: readonly string[];
  /** @throws AppError `unauthenticated`. */
  authenticate(request: ApiRequest): Promise<Caller>;
  /** @throws AppError `forbidden` when the caller's key lacks the scope. */
  authorize(caller: Caller, scope: Scope): void;
  /**
   * Counts a request that may use the route. @throws AppError `rate_limited` when there were too many. Absent: no limit.
   */
  throttle?(caller: Caller): Promise<void>;
  /**
   * Compares the caller's level on what the route's `target` found with the one the route declares.
   * @throws AppError `forbidden`.
   */
  requireLevel?(target: unknown, level: MembershipLevel): void;
}
