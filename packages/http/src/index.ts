export { type ErrorBody, toAppError, toErrorBody, toHttpStatus } from './errors/error-body.ts';
export { createRequestListener, type MountDeps } from './mount/mount.ts';
export type { Access } from './mount/read-request.ts';
export { type ApiDescription, createOpenApiDocument } from './openapi/openapi-document.ts';
export {
  decodeCursor,
  encodeCursor,
  keysetPage,
  keysetPageSchema,
  keysetQuery,
  offsetPage,
  offsetPageSchema,
  offsetQuery,
  pageLink,
  rowsToFetch,
  trimPage,
} from './pagination.ts';
export type { PageContext, PageRoute } from './route/page-route.ts';
export {
  MessageStream,
  type PagePortion,
  PageStream,
  TextContent,
  WithHeaders,
  WithStatus,
} from './route/results.ts';
export {
  type ApiRequest,
  type BaseContext,
  type BasePath,
  createRouteDefiner,
  type FileField,
  type Method,
  type Route,
  type RouteScope,
} from './route/route.ts';
export {
  /** @internal */
  findRouteProblems,
} from './route/route-problems.ts';
export { formatDateTime, parseDateTime } from './schema/date-time.ts';
export { findExceededJsonLimit } from './schema/json.ts';
export { parseInput } from './schema/parse-input.ts';
export { freeFormObject, orNull } from './schema/schema-shape.ts';
export { createConnectionDrain } from './server/drain-connections.ts';
export {
  createHealthPages,
  createSecurityHeaders,
  hasTooManyHeaders,
  type ServeOptions,
  startHttpServer,
} from './server/serve.ts';
