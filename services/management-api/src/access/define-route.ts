import { type BasePath as AnyBasePath, routeDefiner } from '@millrace/http';
import type { Caller } from './caller.ts';

/** Declare routes of this service (packages/http): one path, or the same below several base paths. */
export const { defineRoute, defineRoutes, basePath } = routeDefiner<Caller>();

export type BasePath<Found> = AnyBasePath<Caller, Found>;
