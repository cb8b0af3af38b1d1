import { randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import {
  type CompiledFlags,
  type EvaluatedFlags,
  type FlagSelection,
  neededData,
  nothingStored,
  selectFlags,
  startEvaluation,
  stepLimits,
} from '@millrace/flags';
import { inTimeSlices, loadStoredData, needsStoredData } from '@millrace/flags/store';
import { AppError } from '@millrace/runtime';
import type { KnownProject } from '../access/project-key-store.ts';
import { type Answer, preflightHeaders } from '../answer/send-answer.ts';
import { type Progress, serveRequest } from '../answer/serve-request.ts';
import { browserConfig } from '../config/config-route.ts';
import { type FlagData, findFlagProject } from '../flag-data.ts';
import { clientAddress, requestIdOf } from '../head.ts';
import { flagAnswer, toFlagRefusal } from './answer.ts';
import type { ExpensiveQuestions } from './expensive-questions.ts';
import type { FlagOutcome } from './metrics.ts';
import type { FlagDependencies } from './parts.ts';
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

/** One request for flags, from its headers to its answer (docs/architecture.md, "The way of one flag request"). Never rejects. */
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
  return serveRequest(exchange, deps, (progress) => serveFlags(request, target, progress, deps));
}

/** The steps in their order. */
async function serveFlags(
  request: IncomingMessage,
  target: FlagTarget,
  progress: Progress,
  deps: FlagDependencies,
): Promise<Answer> {
  if (request.method === 'OPTIONS') return { status: 204, body: '', headers: preflightHeaders(request) };
  if (request.method === 'HEAD') return { status: 200, body: '', headers: {} };
  requireGetOrPost(request);
  const query = parseFlagQuery(target.path, target.query);
  const question = await readFlagRequest(request, query, { ...deps, lease: progress.lease });
  if (question === null) return toAnswer(request, query, noFlags, 'nothing_asked', deps);
  deps.flagLimits.admit(question.token, addressOf(request, deps));
  const project = await findFlagProject(question.token, deps.projectKeys);
  progress.environmentId = project.environmentId;
  const { evaluated, outcome } = await answerQuestion(request, question, { project, query, deps });
  const config = query.withConfig ? await browserConfig(question.token, project.environmentId, deps) : {};
  return toAnswer(request, query, evaluated, outcome, deps, config);
}

interface Answering {
  project: KnownProject;
  query: FlagQuery;
  deps: FlagDependencies;
}

const noFlags: EvaluatedFlags = { results: [], hasErrors: false };
const surveyPrefix = 'survey-targeting-';

async function answerQuestion(
  request: IncomingMessage,
  question: FlagQuestion,
  { project, query, deps }: Answering,
): Promise<{ evaluated: EvaluatedFlags; outcome: FlagOutcome }> {
  const { context, keys, contexts } = question;
  if (question.isDisabled || context === null) return { evaluated: noFlags, outcome: 'disabled' };
  if (deps.flagLimits.isUsedUp(project)) return { evaluated: noFlags, outcome: 'quota_limited' };
  const evaluated = await evaluateQuestion({
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
    onFailure: () => deps.metrics.failed('stored_data_unavailable'),
  });
  for (const { failure } of evaluated.results) if (failure !== null) deps.metrics.failed(failure);
  if (!query.onlySurveys) deps.flagLimits.noteAnswered(project);
  return { evaluated, outcome: evaluated.hasErrors ? 'with_errors' : 'evaluated' };
}

function toAnswer(
  request: IncomingMessage,
  query: FlagQuery,
  evaluated: EvaluatedFlags,
  outcome: FlagOutcome,
  { metrics }: FlagDependencies,
  config: object = {},
): Answer {
  metrics.answered(outcome);
  const flags = flagAnswer(query.shape, {
    ...evaluated,
    requestId: uuidOf(request),
    evaluatedAt: Date.now(),
    isQuotaLimited: outcome === 'quota_limited',
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

function addressOf({ headers, socket }: IncomingMessage, { limits }: FlagDependencies): string | null {
  return clientAddress(headers, socket.remoteAddress, limits.trustProxy);
}

function requireGetOrPost({ method }: IncomingMessage): void {
  if (method === 'GET' || method === 'POST') return;
  throw new AppError('method_not_allowed', 'This path takes GET, HEAD, POST, OPTIONS.');
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
  /** Told of each question to the database that failed. */
  onFailure(error: unknown): void;
}

/**
 * What the flags are for somebody: definitions from memory, then what the question leaves open is read, then evaluated.
 * @throws AppError `unavailable` when nobody can say which flags there are, `rate_limited` for an address whose questions
 * cost too much.
 */
async function evaluateQuestion(evaluating: Evaluating): Promise<EvaluatedFlags> {
  const { environmentId, context, data, onFailure } = evaluating;
  const flags = await definitionsOf(environmentId, data);
  const selected = selectFlags(flags, evaluating.selection);
  const needed = neededData(flags, selected, context);
  if (evaluating.onlySentProperties) needed.personProperties = [];
  const stored = needsStoredData(needed)
    ? await loadStoredData(data.database.requests, { ...context, environmentId, flags, needed, onFailure })
    : nothingStored;
  const evaluation = startEvaluation(flags, selected, { ...context, stored, now: Date.now() });
  const evaluated = await inTimeSlices(evaluation.upTo(stepLimits.cheap));
  return evaluated.isComplete ? evaluated : evaluating.expensiveQuestions.evaluate(evaluation, evaluating);
}

async function definitionsOf(environmentId: number, { definitions }: FlagData): Promise<CompiledFlags> {
  try {
    return await definitions.get(environmentId);
  } catch (cause) {
    throw new AppError('unavailable', 'The flags of the project cannot be read right now.', { cause });
  }
}
