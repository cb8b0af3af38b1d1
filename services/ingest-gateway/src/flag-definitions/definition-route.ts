import type { IncomingMessage, ServerResponse } from 'node:http';
import { AppError } from '@millrace/errors';
import { findRemoteConfig } from '@millrace/flag-store';
import type { KnownProject } from '../access/project-key-store.ts';
import { preflightHeaders } from '../answer/cors.ts';
import type { Answer } from '../answer/send-answer.ts';
import { type Progress, serveRequest } from '../capture/serve-request.ts';
import { toFlagRefusal } from '../flag-data/flag-refusal.ts';
import type { FlagDependencies } from '../flags/flag-dependencies.ts';
import { requestIdOf } from '../head/request-id.ts';
import type { BearerRights } from './bearer-rights.ts';
import type { DefinitionTarget } from './definition-path.ts';
import { requireDefinitionProject } from './definition-project.ts';
import { documentAnswer } from './document-answer.ts';
import type { PayloadOpener } from './payload-opener.ts';

export interface DefinitionDependencies extends FlagDependencies {
  rights: BearerRights;
  openPayload: PayloadOpener;
}

/** One request for definitions or a payload, from its head to its answer. Never rejects. */
export function definitionRoute(
  request: IncomingMessage,
  response: ServerResponse,
  { target, query }: { target: DefinitionTarget; query: string },
  deps: DefinitionDependencies,
): Promise<void> {
  const exchange = {
    request,
    response,
    requestId: requestIdOf(request),
    path: target.label,
    toRefusal: toFlagRefusal('GET, HEAD, OPTIONS'),
  };
  return serveRequest(exchange, deps, (progress) => serveDefinitions(request, target, { query, progress, deps }));
}

interface Serving {
  query: string;
  progress: Progress;
  deps: DefinitionDependencies;
}

/** The steps in their order: who asks comes before what is asked for. */
async function serveDefinitions(
  request: IncomingMessage,
  target: DefinitionTarget,
  { query, progress, deps }: Serving,
): Promise<Answer> {
  if (request.method === 'OPTIONS') return { status: 204, body: '', headers: preflightHeaders(request) };
  requireGet(request);
  const project = await requireDefinitionProject(request, { target, query }, { ...deps, database: deps.data.database });
  const { environmentId } = project;
  progress.environmentId = environmentId;
  deps.flagLimits.admitDefinitions(environmentId);
  const answer = await answerTarget(request, target, { project, deps });
  return request.method === 'HEAD' ? { ...answer, body: '' } : answer;
}

async function answerTarget(
  request: IncomingMessage,
  target: DefinitionTarget,
  { project, deps }: { project: KnownProject; deps: DefinitionDependencies },
): Promise<Answer> {
  const { environmentId } = project;
  const { environment = '@current' } = target;
  if (environment !== '@current' && environment !== String(environmentId)) return notFound;
  if (target.label === '/remote_config') return payloadAnswer(target, environmentId, deps);
  if (deps.flagLimits.isUsedUp(project)) throw quotaUsedUp();
  try {
    return await documentAnswer(request, await deps.data.documents.get(environmentId));
  } catch (cause) {
    throw new AppError('unavailable', 'The flags of the project cannot be read now.', { cause });
  }
}

const notFound: Answer = { status: 404, body: '', headers: { 'content-length': 0 } };

/** The payload of a flag that only carries one; it is not evaluated. */
async function payloadAnswer(
  { flag }: Extract<DefinitionTarget, { flag: string }>,
  environmentId: number,
  { data, openPayload }: DefinitionDependencies,
): Promise<Answer> {
  const found = await findPayload(data.database.requests, environmentId, decodeFlag(flag));
  if (found === null) return notFound;
  const payload = found.payload === null ? null : openPayload(found.payload, environmentId);
  return { status: 200, body: JSON.stringify(payload), headers: { 'cache-control': 'no-store' } };
}

async function findPayload(...asked: Parameters<typeof findRemoteConfig>) {
  try {
    return await findRemoteConfig(...asked);
  } catch (cause) {
    throw new AppError('unavailable', 'The payload cannot be read now.', { cause });
  }
}

/** As it came where it cannot be read: then no flag has that name, nor could one have a NUL in it. */
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
  throw new AppError('method_not_allowed', 'This path takes GET, HEAD, OPTIONS.');
}

function quotaUsedUp(): AppError {
  return new AppError('payment_required', 'You have exceeded your feature flag request quota');
}
