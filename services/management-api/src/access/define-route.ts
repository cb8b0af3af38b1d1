import { type BasePath as AnyBasePath, createRouteDefiner } from '@millrace/http';
import type { Caller } from './caller.ts';

/** Functions that declare this service's routes, either under one path or under several base paths. */
export const { defineRoute, defineRoutes, basePath } = createRouteDefiner<Caller>();

export type BasePath<Found> = AnyBasePath<Caller, Found>;
