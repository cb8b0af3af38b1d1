import type { IncomingMessage } from 'node:http';
import { AppError } from '@millrace/runtime';
import { rejectUnknownKey } from '../access/authorize.ts';
import type { ByteLease } from '../body/byte-budget.ts';
import { decodeBody, findKeyAtStart, isLarge, isLargeBody, isMultipart, type ReceivedBody } from '../body/decode.ts';
import { receiveBody } from '../body/receive.ts';
import { findBodyOwner } from '../large-bodies/body-threads.ts';
import { type CapturePath, findSdk, parseCaptureQuery } from '../request-head.ts';
import { toRefusal } from '../response/send-response.ts';
import type { BodyJob, ScannedRequest } from './body-jobs.ts';
import { type CaptureReader, type ReaderDependencies, sliceEvents } from './capture-request.ts';
import { type ParsedRequest, parseRequest, type RequestHints } from './classic-request.ts';
import { createDropTally } from './drops.ts';
import { decodeMultipart } from './multipart.ts';

const accepted = { status: 200, body: '{"status":"Ok"}', headers: {} };
/**
 * The response to a request over the quota. It makes browsers stop sending for a minute
 * (docs/wire-rules.md#how-sdks-react-to-responses). The status is never 204, because a 204 response cannot have a body.
 */
const quotaLimited = { status: 200, body: '{"status":"Ok","quota_limited":["events"]}', headers: {} };
const acceptedBeacon = { status: 204, body: '', headers: {} };

/** Reads requests to `/capture`, `/batch`, `/e` and similar paths: JSON in any encoding, or a multipart form. */
export function createClassicReader(
  { path, query: queryText }: { path: CapturePath; query: string },
  deps: ReaderDependencies,
): CaptureReader {
  const { limits, uploads, metrics } = deps;
  const maxRecordBytes = path.isForAi ? limits.maxAiRecordBytes : limits.maxRecordBytes;
  return {
    path: path.label,
    nameForNameless: path.nameForNameless,
    maxRecordBytes,
    refusesLargeEvents: path.isForAi,
    toRefusal,
    async read(request, lease) {
      requireGetOrPost(request);
      const query = parseCaptureQuery(queryText);
      const body = await receiveBody(request, query, { limits, lease, uploads, onReceived: metrics.bodyReceived });
      const hints = { path, apiKey: request.method === 'GET' ? query.apiKey : null, sentAt: query.sentAt };
      const context = { request, keyInQuery: query.apiKey, hints, maxRecordBytes, lease, deps };
      const read = isMultipart(body) ? await readMultipart(body, context) : await readJson(body, context);
      const { token, isHistorical, sentAtMs, unreadableSentAt, indexes, omittedParts, events } = read;
      const dropped = createDropTally();
      let eventCount = events.length;
      for (const { cause, count, samples } of read.drops) {
        dropped.addAll(cause, count, samples);
        eventCount += count;
      }
      return {
        token,
        isHistorical,
        sentAtMs,
        unreadableSentAt,
        eventCount,
        slices: () => sliceEvents(events),
        indexes,
        dropped,
        omittedParts,
        retriesOn429: retriesOn429(request),
        respond: async (outcome) =>
          outcome === 'quota_limited' ? quotaLimited : query.isBeacon ? acceptedBeacon : accepted,
      };
    },
  };
}

interface ReadContext {
  request: IncomingMessage;
  keyInQuery: string | null;
  hints: RequestHints;
  maxRecordBytes: number;
  lease: ByteLease;
  deps: ReaderDependencies;
}

const plainJson = { compression: null, contentType: 'application/json', contentEncoding: '' };

/**
 * Decodes and parses a body, in another thread if it would block this one for too long.
 * @throws the errors of `decodeBody`, `rejectUnknownKey` and `parseRequest`
 */
async function readJson(body: ReceivedBody, context: ReadContext): Promise<ParsedRequest | ScannedRequest> {
  if (isLargeBody(body)) return readInThread(body, context);
  const { lease, deps } = context;
  const { maxDecompressedBytes } = deps.limits;
  const { json, apiKey, envelopeKey } = await decodeBody(body, { maxDecompressedBytes, lease });
  const hints = { ...context.hints, apiKey: apiKey ?? context.hints.apiKey };
  if (isLarge(json.length)) return readInThread({ raw: json, hints: plainJson }, { ...context, hints });
  // Parse a large body only if its API key may be valid.
  if (envelopeKey !== null) await rejectUnknownKey(envelopeKey, deps.projectKeys);
  return parseRequest(json, hints);
}

async function readInThread({ raw, hints }: ReceivedBody, context: ReadContext): Promise<ScannedRequest> {
  const { maxDecompressedBytes } = context.deps.limits;
  const keys = [context.keyInQuery, context.hints.apiKey, await findKeyAtStart({ raw, hints })];
  return runJob({ type: 'classic', raw, hints, request: context.hints, maxDecompressedBytes }, keys, context);
}

/**
 * Reads an event in a multipart form (`POST /i/v0/ai`). The project API key is in the `Authorization` header or in the
 * event.
 * @throws the errors of `decodeMultipart`, `parseRequest` and `rejectUnknownKey`
 */
async function readMultipart(body: ReceivedBody, context: ReadContext): Promise<ParsedRequest | ScannedRequest> {
  const { request, keyInQuery, hints, maxRecordBytes, lease, deps } = context;
  const { maxDecompressedBytes } = deps.limits;
  const { headers } = request;
  const bearer = bearerOf(headers.authorization);
  if (bearer !== null) await rejectUnknownKey(bearer, deps.projectKeys);
  const form = { raw: body.raw, contentType: headers['content-type'] ?? '', bearer };
  const options = { maxDecompressedBytes, maxRecordBytes };
  if (isLargeBody(body)) {
    const keys = [keyInQuery, await findKeyAtStart(body)];
    return runJob({ type: 'multipart', ...form, ...options, request: hints }, keys, context);
  }
  const { json, omittedParts } = await decodeMultipart(form, { ...options, lease });
  return { ...parseRequest(json, hints), omittedParts };
}

/**
 * Decodes and parses a body in a thread.
 * @param keys the possible project API keys, which determine the queue for the thread
 */
async function runJob(
  job: BodyJob,
  keys: readonly (string | null)[],
  { request, lease, deps }: ReadContext,
): Promise<ScannedRequest> {
  const { projectKeys, limits, largeBodies } = deps;
  const owner = await findBodyOwner(request, keys, { projectKeys, trustProxy: limits.trustProxy });
  const checkKey = (key: string) => rejectUnknownKey(key, projectKeys);
  const result = await largeBodies.read(job, { lease, owner, checkKey });
  if (result.kind !== 'request') throw new Error('A body thread returned an unexpected result.');
  return result;
}

function bearerOf(authorization: string | undefined): string | null {
  return /^Bearer\s+(\S.*)$/i.exec(authorization?.trim() ?? '')?.[1] ?? null;
}

function requireGetOrPost({ method }: IncomingMessage): void {
  if (method !== 'GET' && method !== 'POST')
    throw new AppError('method_not_allowed', 'This path accepts only POST requests.');
}

/** Returns whether the client sends events again after 429. Browsers drop events after any 4xx status. */
function retriesOn429({ method, headers }: Pick<IncomingMessage, 'method' | 'headers'>): boolean {
  // `sec-fetch-mode` does not identify a browser, because Node.js's `fetch` sends it too.
  return method === 'POST' && headers.origin === undefined && findSdk(headers['user-agent'])?.retriesOn429 === true;
}
