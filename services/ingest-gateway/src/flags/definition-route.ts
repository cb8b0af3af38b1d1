import type { IncomingMessage, ServerResponse } from 'node:http';
import { promisify } from 'node:util';
import { gunzip } from 'node:zlib';
import { type FlagDocument, findRemoteConfig } from '@millrace/flags/store';
import { AppError } from '@millrace/runtime';
import type { KnownProject } from '../access/project-key-store.ts';
import type { ProjectKeys } from '../access/project-keys.ts';
import { findProjectApiKey } from '../capture/project-api-key.ts';
import { type FlagDatabase, findFlagProject } from '../flag-data.ts';
import { readRequestId } from '../request-head.ts';
import { createPreflightHeaders, type GatewayResponse } from '../response/send-response.ts';
import { type RequestScope, serveRequest } from '../response/serve-request.ts';
import { type BearerRights, requireBearerKey, requireDefinitionAccess } from './definition-rights.ts';
import type { DecryptPayload, FlagDependencies } from './dependencies.ts';
import { toFlagRefusal } from './flag-response.ts';
import { findKeyByEnvironmentId } from './key-store.ts';

export interface DefinitionDependencies extends FlagDependencies {
  rights: BearerRights;
  openPayload: DecryptPayload;
}

/** Serves a server SDK's request for flag definitions or a flag payload. Never rejects. */
export function serveDefinitionRequest(
  request: IncomingMessage,
  response: ServerResponse,
  { target, query }: { target: DefinitionTarget; query: string },
  deps: DefinitionDependencies,
): Promise<void> {
  const exchange = {
    request,
    response,
    requestId: readRequestId(request),
    path: target.label,
    toRefusal: toFlagRefusal('GET, HEAD, OPTIONS'),
  };
  return serveRequest(exchange, deps, (scope) => serveDefinitions(request, target, { query, scope, deps }));
}

interface DefinitionRequest {
  query: string;
  scope: RequestScope;
  deps: DefinitionDependencies;
}

/** Checks the bearer key before loading the requested definitions or payload. */
async function serveDefinitions(
  request: IncomingMessage,
  target: DefinitionTarget,
  { query, scope, deps }: DefinitionRequest,
): Promise<GatewayResponse> {
  if (request.method === 'OPTIONS') return { status: 204, body: '', headers: createPreflightHeaders(request) };
  requireGet(request);
  const project = await requireDefinitionProject(request, { target, query }, { ...deps, database: deps.data.database });
  const { environmentId } = project;
  scope.setEnvironment(environmentId);
  deps.flagLimits.admitDefinitions(environmentId);
  const response = await respondToTarget(request, target, { project, deps });
  return request.method === 'HEAD' ? { ...response, body: '' } : response;
}

async function respondToTarget(
  request: IncomingMessage,
  target: DefinitionTarget,
  { project, deps }: { project: KnownProject; deps: DefinitionDependencies },
): Promise<GatewayResponse> {
  const { environmentId } = project;
  const { environment = '@current' } = target;
  if (environment !== '@current' && environment !== String(environmentId)) {
    if (target.label === '/remote_config') return noPayload;
    throw new AppError('not_found', 'Not found.');
  }
  if (target.label === '/remote_config') return createPayloadResponse(target, environmentId, deps);
  if (deps.flagLimits.isUsedUp(project)) throw quotaUsedUp();
  try {
    return await createDocumentResponse(request, await deps.data.documents.get(environmentId));
  } catch (cause) {
    throw new AppError('unavailable', "Could not read the project's feature flags. Try again in a moment.", {
      cause,
    });
  }
}

/** `null` is valid JSON. posthog-node parses the body of every response and returns it as the payload. */
const noPayload: GatewayResponse = { status: 404, body: 'null', headers: { 'cache-control': 'no-store' } };

async function createPayloadResponse(
  { flag }: Extract<DefinitionTarget, { flag: string }>,
  environmentId: number,
  { data, openPayload }: DefinitionDependencies,
): Promise<GatewayResponse> {
  const found = await findPayload(data.database.requests, environmentId, decodeFlag(flag));
  if (found === null) return noPayload;
  const payload = found.payload === null ? null : openPayload(found.payload, environmentId);
  return { status: 200, body: JSON.stringify(payload), headers: { 'cache-control': 'no-store' } };
}

async function findPayload(...args: Parameters<typeof findRemoteConfig>) {
  try {
    return await findRemoteConfig(...args);
  } catch (cause) {
    throw new AppError('unavailable', 'Could not read the payload. Try again in a moment.', { cause });
  }
}

/**
 * Decodes a flag key in a path. Returns the path segment unchanged if it cannot be decoded or contains a NUL character,
 * because no flag has such a key.
 */
function decodeFlag(text: string): string {
  try {
    const flag = decodeURIComponent(text);
    return flag.includes('\0') ? text : flag;
  } catch {
    return text;
  }
}

function requireGet({ method }: IncomingMessage): void {
  if (method === 'GET' || method === 'HEAD') return;
  throw new AppError('method_not_allowed', 'This path accepts only GET, HEAD, OPTIONS requests.');
}

function quotaUsedUp(): AppError {
  return new AppError('payment_required', 'You have exceeded your feature flag request quota');
}

interface DefinitionAccess {
  rights: BearerRights;
  projectKeys: ProjectKeys;
  database: Pick<FlagDatabase, 'requests'>;
}

/**
 * Finds a request's environment, and checks that the bearer key may read it. The project API key determines the
 * environment. Without it, the number in the path does.
 * @throws AppError `unauthenticated`, `forbidden` or `unavailable`
 */
async function requireDefinitionProject(
  request: IncomingMessage,
  { target, query }: { target: DefinitionTarget; query: string },
  { rights, projectKeys, database }: DefinitionAccess,
): Promise<KnownProject> {
  const bearer = requireBearerKey(request);
  const token = new URLSearchParams(query).get('token') ?? request.headers['x-posthog-project-api-key'];
  const numbered = token === undefined ? numberIn(target) : null;
  if (numbered === null) {
    if (token === undefined) throw noProjectKey();
    const project = await findFlagProject(findProjectApiKey({ token }, [], null), projectKeys);
    await requireDefinitionAccess(bearer, project.environmentId, rights);
    return project;
  }
  // Check the permission before any other lookup, so that the response reveals nothing to unauthorized clients.
  await requireDefinitionAccess(bearer, numbered, rights);
  return findFlagProject(await keyOf(numbered, database), projectKeys);
}

function noProjectKey(): AppError {
  return new AppError(
    'unauthenticated',
    'The request does not identify a project. Send the project API key in the query parameter `token`.',
    {
      code: 'missing_api_key',
    },
  );
}

/** Returns null if the path segment cannot be an environment ID. */
function numberIn({ environment }: DefinitionTarget): number | null {
  const isPossible = environment !== undefined && /^[1-9]\d{0,9}$/.test(environment);
  return isPossible && Number(environment) <= 2_147_483_647 ? Number(environment) : null;
}

async function keyOf(environmentId: number, { requests }: DefinitionAccess['database']): Promise<string> {
  const key = await findKeyByEnvironmentId(requests, environmentId).catch((cause: unknown) => {
    throw new AppError('unavailable', 'Could not look up the project. Try again in a moment.', { cause });
  });
  if (key === null) throw new AppError('forbidden', 'API key does not have access to the requested project.');
  return key;
}

type DefinitionTarget =
  | { label: '/flags/definitions' | '/api/feature_flag/local_evaluation'; environment?: never }
  /** `environment` is the environment ID, or `@current` for the project API key's environment. */
  | { label: '/feature_flags/local_evaluation'; environment: string }
  | { label: '/remote_config'; environment: string; flag: string };

const documents = new Map<string, DefinitionTarget>(
  (['/flags/definitions', '/api/feature_flag/local_evaluation'] as const).flatMap((label) => [
    [label, { label }],
    [`${label}/`, { label }],
  ]),
);

const localEvaluation = /^\/api\/(?:projects|environments)\/([^/]+)\/feature_flags\/local_evaluation\/?$/;
const remoteConfig = /^\/api\/(?:projects|environments)\/([^/]+)\/feature_flags\/([^/]+)\/remote_config\/?$/;

/**
 * Returns which definitions or payload a path requests, or undefined for all other paths.
 * @param path the path without the query
 */
export function matchFlagDefinitionPath(path: string): DefinitionTarget | undefined {
  const document = documents.get(path);
  if (document !== undefined || !path.startsWith('/api/')) return document;
  const [, environmentOfAll] = localEvaluation.exec(path) ?? [];
  if (environmentOfAll !== undefined) {
    return { label: '/feature_flags/local_evaluation', environment: environmentOfAll };
  }
  const [, environment, flag] = remoteConfig.exec(path) ?? [];
  return environment === undefined || flag === undefined ? undefined : { label: '/remote_config', environment, flag };
}

const inflate = promisify(gunzip);

/**
 * Returns the document, or 304 if the client already has it. The client's ETag can be weak or strong, with or without
 * quotes.
 */
async function createDocumentResponse(
  request: IncomingMessage,
  { etag, gzipped }: FlagDocument,
): Promise<GatewayResponse> {
  const headers = {
    etag: `W/"${etag}"`,
    'cache-control': 'private, must-revalidate',
    vary: 'origin, accept-encoding, authorization',
  };
  if (hasTag(request.headers['if-none-match'], etag)) return { status: 304, body: '', headers };
  const takesGzip = /\bgzip\b/i.test(String(request.headers['accept-encoding'] ?? ''));
  const body = [takesGzip ? gzipped : await inflate(gzipped)];
  return { status: 200, body, headers: takesGzip ? { ...headers, 'content-encoding': 'gzip' } : headers };
}

function hasTag(sent: string | undefined, etag: string): boolean {
  return sent?.split(',').some((tag) => tag.trim().replace(/^W\//, '').replace(/^"|"$/g, '') === etag) ?? false;
}
