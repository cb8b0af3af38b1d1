export { type ErrorBody, statusOf, toAppError, toErrorBody } from './errors/error-body.ts';
export type { Access } from './mount/access.ts';
export { type MountDeps, mount } from './mount/mount.ts';
export { type ApiDescription, openApiDocument } from './openapi/openapi-document.ts';
export { decodeCursor } from './pagination/cursor.ts';
export { cutPage, keysetPage, keysetPageOf, keysetQuery, rowsToFetch } from './pagination/keyset-page.ts';
export { offsetPage, offsetPageOf, offsetQuery } from './pagination/offset-page.ts';
export { pageLink } from './pagination/page-link.ts';
export type { ApiRequest } from './route/api-request.ts';
export { routeDefiner } from './route/define-route.ts';
export type { FileField } from './route/file-field.ts';
export type { Method, Route, RouteScope } from './route/route.ts';
export {
  /** @internal */
  routeProblems,
} from './route/route-problems.ts';
export { TextContent } from './route/text-content.ts';
export { formatDateTime, parseDateTime } from './schema/date-time.ts';
export { freeFormObject } from './schema/free-form-object.ts';
export { jsonExcess } from './schema/json-excess.ts';
export { parseInput } from './schema/parse-input.ts';
export { createConnectionDrain } from './server/drain-connections.ts';
export { healthRoutes } from './server/health-routes.ts';
export { securityHeaders } from './server/security-headers.ts';
export { type ServeOptions, serve } from './server/serve.ts';
