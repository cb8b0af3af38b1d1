import type { IncomingMessage } from 'node:http';
import { requirePossibleKey } from '../access/authorize.ts';
import type { ProjectKeys } from '../access/project-keys.ts';
import type { ByteLease } from '../body/byte-budget.ts';
import { type DecodedBody, decodeBody, findKeyAtStart, isLongLz64 } from '../body/decode.ts';
import { claimedSize } from '../body/inflate.ts';
import { type ReceivedBody, receiveBody } from '../body/receive.ts';
import type { CaptureLimits } from '../config.ts';
import type { CapturePath, CaptureQuery } from '../head.ts';
import { findTurn } from '../large-bodies/body-threads.ts';
import { inParts, isLarge, type LargeBodies } from '../large-bodies/large-bodies.ts';
import { type IncomingRequest, inOnePart, parseCaptureRequest, type RequestHints } from '../readers/classic.ts';
import { decodeParts, isMultipart } from '../readers/parts.ts';
import type { CaptureDependencies } from './serve-request.ts';

type ReadDependencies = Pick<CaptureDependencies, 'limits' | 'uploads' | 'largeBodies' | 'projectKeys' | 'metrics'>;

interface Reading {
  request: IncomingMessage;
  /** The key in the address. */
  keyInQuery: string | null;
  said: RequestHints;
  lease: ByteLease;
  deps: ReadDependencies;
}

const plainJson = { compression: null, contentType: 'application/json', contentEncoding: '' };

/**
 * Steps 2 and 3: from the bytes of a request to its events.
 *
 * @returns a promise only where something is waited for: the rest of a body, gzip, another thread, whose key it is.
 * @throws AppError see `receiveBody`, `decodeBody`, `parseCaptureRequest`, `readPartsRequest`.
 */
export function readRequest(
  request: IncomingMessage,
  { path, query }: { path: CapturePath; query: CaptureQuery },
  lease: ByteLease,
  deps: ReadDependencies,
): IncomingRequest | Promise<IncomingRequest> {
  const said = { path, apiKey: request.method === 'GET' ? query.apiKey : null, sentAt: query.sentAt };
  const reading = { request, keyInQuery: query.apiKey, said, lease, deps };
  const read = (body: ReceivedBody) =>
    isMultipart(body.hints.contentType) ? readPartsRequest(body, reading) : readReceived(body, reading);
  const { limits, uploads, metrics } = deps;
  const received = receiveBody(request, query, { limits, lease, uploads, onReceived: metrics.bodyReceived });
  return received instanceof Promise ? received.then(read) : read(received);
}

/** In this thread or, for a body that would keep it too long, in another one. */
function readReceived({ raw, hints }: ReceivedBody, reading: Reading): IncomingRequest | Promise<IncomingRequest> {
  const { said, lease, deps } = reading;
  const isLong = isLarge(raw.length) || isLarge(claimedSize(raw)) || isLongLz64(raw, hints);
  if (isLong) return readElsewhere({ raw, hints, said }, reading);
  const { maxDecompressedBytes } = deps.limits;
  const body = decodeBody(raw, hints, { maxDecompressedBytes, lease });
  return body instanceof Promise ? body.then((decoded) => readDecoded(decoded, reading)) : readDecoded(body, reading);
}

function readDecoded(
  { json, apiKey, envelopeKey }: DecodedBody,
  reading: Reading,
): IncomingRequest | Promise<IncomingRequest> {
  const said = { ...reading.said, apiKey: apiKey ?? reading.said.apiKey };
  if (isLarge(json.length)) return readElsewhere({ raw: json, hints: plainJson, said }, reading);
  const parse = () => inOnePart(parseCaptureRequest(json, said));
  // A large body is not parsed when its key is no project's.
  return envelopeKey === null ? parse() : requirePossibleKey(envelopeKey, reading.deps.projectKeys).then(parse);
}

async function readElsewhere(
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

interface ReadingParts {
  request: IncomingMessage;
  keyInQuery: string | null;
  said: RequestHints;
  lease: ByteLease;
  deps: { limits: CaptureLimits; largeBodies: Pick<LargeBodies, 'findInParts'>; projectKeys: ProjectKeys };
}

/**
 * Steps 2 and 3 for an event that comes in parts (`POST /i/v0/ai`, multipart/form-data), in this thread or, for a body
 * that would keep it too long, in another one. Its project API key is in the `Authorization` header, or in the event.
 *
 * @throws AppError see `decodeParts`, `parseCaptureRequest`, `requirePossibleKey`.
 */
async function readPartsRequest(
  { raw, hints }: ReceivedBody,
  { request, keyInQuery, said, lease, deps }: ReadingParts,
): Promise<IncomingRequest> {
  const { maxDecompressedBytes, maxRecordBytes, trustProxy } = deps.limits;
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
