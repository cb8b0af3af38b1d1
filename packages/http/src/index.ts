export { type ErrorBody, statusOf, toAppError, toErrorBody } from './errors/error-body.ts';
export { type MountDeps, mount, toPageRequest } from './mount/mount.ts';
export type { Access } from './mount/read-request.ts';
export { type ApiDescription, openApiDocument } from './openapi/openapi-document.ts';
export {
  cutPage,
  decodeCursor,
  encodeCursor,
  keysetPage,
  keysetPageOf,
  keysetQuery,
  offsetPage,
  offsetPageOf,
  offsetQuery,
  pageLink,
  rowsToFetch,
} from './pagination.ts';
export {
  type ApiRequest,
  type BaseContext,
  type BasePath,
  type FileField,
  MessageStream,
  type Method,
  type PagePortion,
  PageStream,
  type Route,
  type RouteScope,
  routeDefiner,
  TextContent,
  WithHeaders,
  WithStatus,
} from './route/route.ts';
export {
  /** @internal */
  routeProblems,
} from './route/route-problems.ts';
export { formatDateTime, parseDateTime } from './schema/date-time.ts';
export { jsonExcess } from './schema/json.ts';
export { parseInput } from './schema/parse-input.ts';
export { freeFormObject, orNull } from './schema/schema-shape.ts';
export { createConnectionDrain } from './server/drain-connections.ts';
export { hasTooManyHeaders, healthRoutes, type ServeOptions, securityHeaders, serve } from './server/serve.ts';
