import { type BasePath as AnyBasePath, createRouteDefiner } from '@millrace/http';
import type { Caller } from './caller.ts';

/** Functions that declare this service's routes: one path, or the same route under several base paths. */
export const { defineRoute, defineRoutes, basePath } = createRouteDefiner<Caller>();

export type BasePath<Found> = AnyBasePath<Caller, Found>;
