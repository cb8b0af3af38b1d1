import { randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import {
  type CompiledFlags,
  countWithheld,
  type EvaluatedFlags,
  type FlagSelection,
  neededData,
  nothingStored,
  type StoredData,
  selectFlags,
  startEvaluation,
  stepLimits,
} from '@millrace/flags';
import { inTimeSlices, loadStoredData, needsStoredData } from '@millrace/flags/store';
import { AppError } from '@millrace/runtime';
import type { KnownProject } from '../access/project-key-store.ts';
import { type Answer, preflightHeaders } from '../answer/send-answer.ts';
import { type RequestScope, serveRequest } from '../answer/serve-request.ts';
import { browserConfig } from '../config/config-route.ts';
import { type FlagData, findFlagProject } from '../flag-data.ts';
import { clientAddress, requestIdOf } from '../head.ts';
import { flagAnswer, toFlagRefusal } from './answer.ts';
import type { FlagDependencies } from './dependencies.ts';
import type { ExpensiveQuestions } from './expensive-questions.ts';
import { type IdsBeforeLogin, withIdBeforeLogin } from './ids-before-login.ts';
import type { FlagOutcome } from './metrics.ts';
import {
  type FlagPath,
  type FlagQuery,
  type FlagQuestion,
  parseFlagQuery,
  readFlagRequest,
  requestRuntime,
} from './question.ts';

/** A path of flags and the text after `?`. */
export interface FlagTarget {
  path: FlagPath;
  query: string;
}

/** One request for flags, from its headers to its answer (docs/architecture.md, "Life of a flag request"). Never rejects. */
export function flagRoute(
  request: IncomingMessage,
  response: ServerResponse,
  target: FlagTarget,
  deps: FlagDependencies,
): Promise<void> {
  const exchange = {
    request,
    response,
    requestId: requestIdOf(request),
    path: target.path,
    toRefusal: toFlagRefusal('GET, HEAD, POST, OPTIONS'),
  };
  return serveRequest(exchange, deps, (scope) => serveFlags(request, target, scope, deps));
}

/** The steps in their order. */
async function serveFlags(
  request: IncomingMessage,
  target: FlagTarget,
  scope: RequestScope,
  deps: FlagDependencies,
): Promise<Answer> {
  if (request.method === 'OPTIONS') return { status: 204, body: '', headers: preflightHeaders(request) };
  if (request.method === 'HEAD') return { status: 200, body: '', headers: {} };
  requireGetOrPost(request);
  const query = parseFlagQuery(target.path, target.query);
  const question = await readFlagRequest(request, query, { ...deps, lease: scope.lease });
  if (question === null) return toAnswer(request, query, nothing('nothing_asked'), deps);
  deps.flagLimits.admit(question.token, addressOf(request, deps));
  const project = await findFlagProject(question.token, deps.projectKeys);
  scope.setEnvironment(project.environmentId);
  const answered = await answerQuestion(request, question, { project, query, deps });
  const config = query.withConfig ? await browserConfig(question.token, project.environmentId, deps) : {};
  return toAnswer(request, query, answered, deps, config);
}

interface Answering {
  project: KnownProject;
  query: FlagQuery;
  deps: FlagDependencies;
}

interface AnsweredQuestion {
  evaluated: EvaluatedFlags;
  outcome: FlagOutcome;
  /** See `countWithheld`. */
  withheld: number;
}

function nothing(outcome: FlagOutcome): AnsweredQuestion {
  return { evaluated: { results: [], hasErrors: false }, outcome, withheld: 0 };
}

const surveyPrefix = 'survey-targeting-';

async function answerQuestion(
  request: IncomingMessage,
  question: FlagQuestion,
  { project, query, deps }: Answering,
): Promise<AnsweredQuestion> {
  const { context, keys, contexts } = question;
  if (question.isDisabled || context === null) return nothing('disabled');
  if (deps.flagLimits.isUsedUp(project)) return nothing('quota_limited');
  const { evaluated, withheld } = await evaluateQuestion({
    environmentId: project.environmentId,
    context,
    selection: {
      runtime: requestRuntime(question.runtime, request.headers),
      contexts,
      ...(keys === undefined ? {} : { keys }),
      ...(query.onlySurveys ? { keyPrefix: surveyPrefix } : {}),
    },
    onlySentProperties: query.onlySentProperties,
    address: addressOf(request, deps),
    data: deps.data,
    expensiveQuestions: deps.expensiveQuestions,
    idsBeforeLogin: deps.idsBeforeLogin,
    onFailure: () => deps.metrics.failed('stored_data_unavailable'),
  });
  for (const { failure } of evaluated.results) if (failure !== null) deps.metrics.failed(failure);
  if (!query.onlySurveys) deps.flagLimits.noteAnswered(project);
  return { evaluated, outcome: evaluated.hasErrors ? 'with_errors' : 'evaluated', withheld };
}

function toAnswer(
  request: IncomingMessage,
  query: FlagQuery,
  { evaluated, outcome, withheld }: AnsweredQuestion,
  { metrics }: FlagDependencies,
  config: object = {},
): Answer {
  metrics.answered(outcome);
  const flags = flagAnswer(query.shape, {
    ...evaluated,
    requestId: uuidOf(request),
    evaluatedAt: Date.now(),
    isQuotaLimited: outcome === 'quota_limited',
    withheld,
  });
  // Not a document to keep: it is about one person.
  return { status: 200, body: JSON.stringify({ ...flags, ...config }), headers: { 'cache-control': 'no-store' } };
}

const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

/** The caller's own id, by which it finds its question again in events. */
function uuidOf({ headers }: IncomingMessage): string {
  const sent = headers['x-request-id'];
  return typeof sent === 'string' && uuid.test(sent) ? sent : randomUUID();
}

function addressOf(request: IncomingMessage, { limits }: FlagDependencies): string | null {
  return clientAddress(request, limits);
}

function requireGetOrPost({ method }: IncomingMessage): void {
  if (method === 'GET' || method === 'POST') return;
  throw new AppError('method_not_allowed', 'This path accepts only GET, HEAD, POST, OPTIONS requests.');
}

interface Evaluating {
  environmentId: number;
  context: NonNullable<FlagQuestion['context']>;
  selection: FlagSelection;
  onlySentProperties: boolean;
  /** Null when it is not known. */
  address: string | null;
  data: FlagData;
  expensiveQuestions: ExpensiveQuestions;
  idsBeforeLogin: IdsBeforeLogin;
  /** Told of each question to the database that failed. */
  onFailure(error: unknown): void;
}

/**
 * What the flags are for somebody: definitions from memory, then what the question leaves open is read, then evaluated.
 * @throws AppError `unavailable` when nobody can say which flags there are, `rate_limited` for an address whose questions
 * cost too much.
 */
async function evaluateQuestion(evaluating: Evaluating): Promise<Omit<AnsweredQuestion, 'outcome'>> {
  const { environmentId, data } = evaluating;
  const flags = await definitionsOf(environmentId, data);
  const selected = selectFlags(flags, evaluating.selection);
  const { context, stored } = await readStoredData(flags, selected, evaluating);
  const evaluation = startEvaluation(flags, selected, { ...context, stored, now: Date.now() });
  const evaluated = await inTimeSlices(evaluation.upTo(stepLimits.cheap));
  return {
    evaluated: evaluated.isComplete ? evaluated : await evaluating.expensiveQuestions.evaluate(evaluation, evaluating),
    withheld: countWithheld(flags, evaluating.selection),
  };
}

/** @returns the request's context as well: the id before login may have been kept from an earlier request. */
async function readStoredData(
  flags: CompiledFlags,
  selected: ReturnType<typeof selectFlags>,
  { environmentId, context, data, onFailure, onlySentProperties, idsBeforeLogin }: Evaluating,
): Promise<{ context: Evaluating['context']; stored: StoredData }> {
  const needed = neededData(flags, selected, context);
  if (onlySentProperties) needed.personProperties = [];
  if (!needsStoredData(needed)) return { context, stored: nothingStored };
  const request = { ...context, environmentId, flags, onFailure };
  const stored = await loadStoredData(data.database.requests, { ...request, needed });
  if (!needed.hashKeyOverrides) return { context, stored };
  return withIdBeforeLogin(idsBeforeLogin, {
    ...{ environmentId, context, flags, stored },
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
