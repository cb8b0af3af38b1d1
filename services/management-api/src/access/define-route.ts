import { routeDefiner } from '@millrace/http';
import type { Caller } from './caller.ts';

/** Declares a route of this service (packages/http). */
export const defineRoute = routeDefiner<Caller>();
