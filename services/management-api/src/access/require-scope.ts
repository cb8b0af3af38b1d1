import { includesScope, type Scope } from '@millrace/contracts';
import { AppError } from '@millrace/runtime';
import type { Caller } from './caller.ts';

/** Requires that the caller has a scope. For routes that need a second scope. @throws AppError `forbidden` */
export function requireScope({ scopes }: Pick<Caller, 'scopes'>, scope: Scope): void {
  if (includesScope(scopes, scope)) return;
  throw new AppError('forbidden', `API key missing required scope '${scope}'`);
}
