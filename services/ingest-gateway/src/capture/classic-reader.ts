import type { IncomingMessage } from 'node:http';
import { AppError } from '@millrace/runtime';
import { requirePossibleKey } from '../access/authorize.ts';
import { toRefusal } from '../answer/send-answer.ts';
import type { ByteLease } from '../body/byte-budget.ts';
import { decodeBody, findKeyAtStart, isLongLz64 } from '../body/decode.ts';
import { claimedSize } from '../body/inflate.ts';
import { type ReceivedBody, receiveBody } from '../body/receive.ts';
import { type CapturePath, parseCaptureQuery } from '../head.ts';
import { findTurn } from '../large-bodies/body-threads.ts';
import { inParts, isLarge } from '../large-bodies/large-bodies.ts';
import { type IncomingRequest, inOnePart, parseCaptureRequest, type RequestHints } from '../readers/classic.ts';
import { createDropTally } from '../readers/drops.ts';
import { decodeParts, isMultipart } from '../readers/parts.ts';
import { sdkOf } from '../readers/sdk-agents.ts';
import type { CaptureDependencies, CaptureReader } from './reader.ts';

type ReaderDependencies = Pick<CaptureDependencies, 'limits' | 'uploads' | 'largeBodies' | 'projectKeys' | 'metrics'>;

const accepted = { status: 200, body: '{"status":"Ok"}', headers: {} };
/**
 * Browsers then stop sending for a minute (docs/wire-rules.md#how-sdks-react-to-responses); never 204, its body would
 * be lost.
 */
const quotaLimited = { status: 200, body: '{"status":"Ok","quota_limited":["events"]}', headers: {} };
const acceptedBeacon = { status: 204, body: '', headers: {} };

/** Reads what comes to `/capture`, `/batch`, `/e` and their like: JSON in any encoding and shape, or an event in parts. */
export function classicReader(
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
      const said = { path, apiKey: request.method === 'GET' ? query.apiKey : null, sentAt: query.sentAt };
      const reading = { request, keyInQuery: query.apiKey, said, maxRecordBytes, lease, deps };
      const isInParts = isMultipart(body.hints.contentType);
      const incoming = isInParts ? await readParts(body, reading) : await readJson(body, reading);
      return {
        ...incoming,
        dropped: createDropTally(),
        retriesOn429: retriesOn429(request),
        answer: async (outcome) =>
          outcome === 'quota_limited' ? quotaLimited : query.isBeacon ? acceptedBeacon : accepted,
      };
    },
  };
}

interface Reading {
  request: IncomingMessage;
  /** The key in the address. */
  keyInQuery: string | null;
  said: RequestHints;
  maxRecordBytes: number;
  lease: ByteLease;
  deps: ReaderDependencies;
}

const plainJson = { compression: null, contentType: 'application/json', contentEncoding: '' };

/**
 * In this thread or, for a body that would keep it too long, in another one.
 * @throws AppError see `decodeBody`, `requirePossibleKey`, `parseCaptureRequest`.
 */
async function readJson({ raw, hints }: ReceivedBody, reading: Reading): Promise<IncomingRequest> {
  const { lease, deps } = reading;
  const isLong = isLarge(raw.length) || isLarge(claimedSize(raw)) || isLongLz64(raw, hints);
  if (isLong) return readInThread({ raw, hints, said: reading.said }, reading);
  const { maxDecompressedBytes } = deps.limits;
  const { json, apiKey, envelopeKey } = await decodeBody(raw, hints, { maxDecompressedBytes, lease });
  const said = { ...reading.said, apiKey: apiKey ?? reading.said.apiKey };
  if (isLarge(json.length)) return readInThread({ raw: json, hints: plainJson, said }, reading);
  // A larger body is not parsed when its key is no project's.
  if (envelopeKey !== null) await requirePossibleKey(envelopeKey, deps.projectKeys);
  return inOnePart(parseCaptureRequest(json, said));
}

async function readInThread(
  { raw, hints, said }: ReceivedBody & { said: RequestHints },
  { request, keyInQuery, lease, deps }: Reading,
): Promise<IncomingRequest> {
  const { maxDecompressedBytes, trustProxy } = deps.limits;
  const keys = [keyInQuery, said.apiKey, await findKeyAtStart(raw, hints)];
  const turn = await findTurn(request, keys, { projectKeys: deps.projectKeys, trustProxy });
  const checkKey = (key: string) => requirePossibleKey(key, deps.projectKeys);
  const found = await deps.largeBodies.find({ raw, hints, request: said, maxDecompressedBytes, lease, turn, checkKey });
  return inParts(found);
}

/**
 * An event that comes in parts (`POST /i/v0/ai`, multipart/form-data), in this thread or, for a body that would keep it
 * too long, in another one. Its project API key is in the `Authorization` header, or in the event.
 * @throws AppError see `decodeParts`, `parseCaptureRequest`, `requirePossibleKey`.
 */
async function readParts(
  { raw, hints }: ReceivedBody,
  { request, keyInQuery, said, maxRecordBytes, lease, deps }: Reading,
): Promise<IncomingRequest> {
  const { maxDecompressedBytes, trustProxy } = deps.limits;
  const { headers } = request;
  const bearer = bearerOf(headers.authorization);
  if (bearer !== null) await requirePossibleKey(bearer, deps.projectKeys);
  const body = { raw, contentType: headers['content-type'] ?? '', bearer };
  const options = { maxDecompressedBytes, maxRecordBytes, lease };
  if (isLarge(raw.length) || isLarge(claimedSize(raw))) {
    const keys = [keyInQuery, await findKeyAtStart(raw, hints)];
    const turn = await findTurn(request, keys, { projectKeys: deps.projectKeys, trustProxy });
    const found = await deps.largeBodies.findInParts({ ...body, ...options, request: said, turn });
    return { ...inParts(found), leftOut: found.leftOut };
  }
  const { json, leftOut } = await decodeParts(body, options);
  return { ...inOnePart(parseCaptureRequest(json, said)), leftOut };
}

function bearerOf(authorization: string | undefined): string | null {
  return /^Bearer\s+(\S.*)$/i.exec(authorization?.trim() ?? '')?.[1] ?? null;
}

function requireGetOrPost({ method }: IncomingMessage): void {
  if (method !== 'GET' && method !== 'POST')
    throw new AppError('method_not_allowed', 'This path accepts only POST requests.');
}

/**
 * Whether the sender of a request that is refused for a while may be told so with 429. Browsers drop what is answered
 * with any 4xx; everybody sends again after a 503 (rule 12).
 */
function retriesOn429({ method, headers }: Pick<IncomingMessage, 'method' | 'headers'>): boolean {
  // Node's own fetch sends `sec-fetch-mode` as well, so that is no sign of a browser.
  return method === 'POST' && headers.origin === undefined && sdkOf(headers['user-agent'])?.retriesOn429 === true;
}
