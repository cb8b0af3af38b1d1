import { randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import {
  type CompiledFlags,
  countFlagsWithheldForRuntime,
  type EvaluatedFlags,
  type FlagSelection,
  findNeededData,
  nothingStored,
  type StoredData,
  selectFlags,
  startEvaluation,
  stepLimits,
} from '@millrace/flags';
import { loadStoredData, needsStoredData, runInTimeSlices } from '@millrace/flags/store';
import { AppError } from '@millrace/runtime';
import type { KnownProject } from '../access/project-key-store.ts';
import { createBrowserConfig } from '../config/config-route.ts';
import { type FlagData, findFlagProject } from '../flag-data.ts';
import { findClientAddress, readRequestId } from '../request-head.ts';
import { createPreflightHeaders, type GatewayResponse } from '../response/send-response.ts';
import { type RequestScope, serveRequest } from '../response/serve-request.ts';
import { type AnonymousIdCache, loadWithAnonymousId } from './anonymous-ids.ts';
import type { FlagDependencies } from './dependencies.ts';
import type { ExpensiveRequests } from './expensive-requests.ts';
import {
  type FlagPath,
  type FlagQuery,
  type FlagRequest,
  findRequestRuntime,
  parseFlagQuery,
  readFlagRequest,
} from './flag-request.ts';
import { toFlagRefusal, toFlagResponse } from './flag-response.ts';
import type { FlagOutcome } from './metrics.ts';

export interface FlagTarget {
  path: FlagPath;
  query: string;
}

/** Serves a flag request (docs/architecture.md, "Life of a flag request"). Never rejects. */
export function serveFlagRequest(
  request: IncomingMessage,
  response: ServerResponse,
  target: FlagTarget,
  deps: FlagDependencies,
): Promise<void> {
  const exchange = {
    request,
    response,
    requestId: readRequestId(request),
    path: target.path,
    toRefusal: toFlagRefusal('GET, HEAD, POST, OPTIONS'),
  };
  return serveRequest(exchange, deps, (scope) => serveFlags(request, target, scope, deps));
}

async function serveFlags(
  request: IncomingMessage,
  target: FlagTarget,
  scope: RequestScope,
  deps: FlagDependencies,
): Promise<GatewayResponse> {
  if (request.method === 'OPTIONS') return { status: 204, body: '', headers: createPreflightHeaders(request) };
  if (request.method === 'HEAD') return { status: 200, body: '', headers: {} };
  requireGetOrPost(request);
  const query = parseFlagQuery(target.path, target.query);
  const flagRequest = await readFlagRequest(request, query, { ...deps, lease: scope.lease });
  if (flagRequest === null) return toResponse(request, query, nothing('no_flags_requested'), deps);
  deps.flagLimits.admit(flagRequest.token, addressOf(request, deps));
  const project = await findFlagProject(flagRequest.token, deps.projectKeys);
  scope.setEnvironment(project.environmentId);
  const evaluated = await evaluateFlags(request, flagRequest, { project, query, deps });
  const config = query.withConfig ? await createBrowserConfig(flagRequest.token, project.environmentId, deps) : {};
  return toResponse(request, query, evaluated, deps, config);
}

interface EvaluationContext {
  project: KnownProject;
  query: FlagQuery;
  deps: FlagDependencies;
}

interface EvaluatedRequest {
  evaluated: EvaluatedFlags;
  outcome: FlagOutcome;
  /** The number of omitted flags (see `countFlagsWithheldForRuntime`). */
  withheld: number;
}

function nothing(outcome: FlagOutcome): EvaluatedRequest {
  return { evaluated: { results: [], hasErrors: false }, outcome, withheld: 0 };
}

const surveyPrefix = 'survey-targeting-';

async function evaluateFlags(
  request: IncomingMessage,
  flagRequest: FlagRequest,
  { project, query, deps }: EvaluationContext,
): Promise<EvaluatedRequest> {
  const { context, keys, contexts } = flagRequest;
  if (flagRequest.isDisabled || context === null) return nothing('disabled');
  if (deps.flagLimits.isUsedUp(project)) return nothing('quota_limited');
  const { evaluated, withheld } = await evaluateRequest({
    environmentId: project.environmentId,
    context,
    selection: {
      runtime: findRequestRuntime(flagRequest.runtime, request.headers),
      contexts,
      ...(keys === undefined ? {} : { keys }),
      ...(query.onlySurveys ? { keyPrefix: surveyPrefix } : {}),
    },
    onlySentProperties: query.onlySentProperties,
    address: addressOf(request, deps),
    data: deps.data,
    expensiveRequests: deps.expensiveRequests,
    idsBeforeLogin: deps.idsBeforeLogin,
    onFailure: () => deps.metrics.failed('stored_data_unavailable'),
  });
  for (const { failure } of evaluated.results) if (failure !== null) deps.metrics.failed(failure);
  if (!query.onlySurveys) deps.flagLimits.countEvaluation(project);
  return { evaluated, outcome: evaluated.hasErrors ? 'with_errors' : 'evaluated', withheld };
}

function toResponse(
  request: IncomingMessage,
  query: FlagQuery,
  { evaluated, outcome, withheld }: EvaluatedRequest,
  { metrics }: FlagDependencies,
  config: object = {},
): GatewayResponse {
  metrics.countOutcome(outcome);
  const flags = toFlagResponse(query.shape, {
    ...evaluated,
    requestId: uuidOf(request),
    evaluatedAt: Date.now(),
    isQuotaLimited: outcome === 'quota_limited',
    withheld,
  });
  // The response contains one person's flag values, so it must not be cached.
  return { status: 200, body: JSON.stringify({ ...flags, ...config }), headers: { 'cache-control': 'no-store' } };
}

const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

/** Returns the client's request ID if it is a UUID, or else a new one. SDKs add it to events about flags. */
function uuidOf({ headers }: IncomingMessage): string {
  const sent = headers['x-request-id'];
  return typeof sent === 'string' && uuid.test(sent) ? sent : randomUUID();
}

function addressOf(request: IncomingMessage, { limits }: FlagDependencies): string | null {
  return findClientAddress(request, limits);
}

function requireGetOrPost({ method }: IncomingMessage): void {
  if (method === 'GET' || method === 'POST') return;
  throw new AppError('method_not_allowed', 'This path accepts only GET, HEAD, POST, OPTIONS requests.');
}

interface EvaluationOptions {
  environmentId: number;
  context: NonNullable<FlagRequest['context']>;
  selection: FlagSelection;
  onlySentProperties: boolean;
  /** The client's IP address, or null if it is unknown. */
  address: string | null;
  data: FlagData;
  expensiveRequests: ExpensiveRequests;
  idsBeforeLogin: AnonymousIdCache;
  onFailure(error: unknown): void;
}

/**
 * Evaluates flags with the definitions in memory, and loads the stored data that the request does not contain.
 * @throws AppError `unavailable` if the definitions are unknown, or `rate_limited` if the IP address has sent too many
 * expensive requests
 */
async function evaluateRequest(options: EvaluationOptions): Promise<Omit<EvaluatedRequest, 'outcome'>> {
  const { environmentId, data } = options;
  const flags = await definitionsOf(environmentId, data);
  const selected = selectFlags(flags, options.selection);
  const { context, stored } = await readStoredData(flags, selected, options);
  const evaluation = startEvaluation(flags, selected, { ...context, stored, now: Date.now() });
  const evaluated = await runInTimeSlices(evaluation.upTo(stepLimits.cheap));
  return {
    evaluated: evaluated.isComplete ? evaluated : await options.expensiveRequests.evaluate(evaluation, options),
    withheld: countFlagsWithheldForRuntime(flags, options.selection),
  };
}

/**
 * Loads the stored data that the selected flags need.
 * @returns this data, and the context with an anonymous ID, which may be from an earlier request
 */
async function readStoredData(
  flags: CompiledFlags,
  selected: ReturnType<typeof selectFlags>,
  { environmentId, context, data, onFailure, onlySentProperties, idsBeforeLogin }: EvaluationOptions,
): Promise<{ context: EvaluationOptions['context']; stored: StoredData }> {
  const needed = findNeededData(flags, selected, context);
  if (onlySentProperties) needed.personProperties = [];
  if (!needsStoredData(needed)) return { context, stored: nothingStored };
  const request = { ...context, environmentId, flags, onFailure };
  const stored = await loadStoredData(data.database.requests, { ...request, needed });
  if (!needed.hashKeyOverrides) return { context, stored };
  return loadWithAnonymousId(idsBeforeLogin, {
    environmentId,
    context,
    flags,
    stored,
    async loadWith(anonymousDistinctId) {
      const onlyIds = { personProperties: [], groups: [], staticCohorts: [], hashKeyOverrides: true };
      const again = { ...request, anonymousDistinctId, needed: onlyIds };
      return (await loadStoredData(data.database.requests, again)).hashKeyOverrides;
    },
  });
}

async function definitionsOf(environmentId: number, { definitions }: FlagData): Promise<CompiledFlags> {
  try {
    return await definitions.get(environmentId);
  } catch (cause) {
    throw new AppError('unavailable', "Could not read the project's feature flags. Try again in a moment.", {
      cause,
    });
  }
}
