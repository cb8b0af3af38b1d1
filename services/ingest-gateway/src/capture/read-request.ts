import type { IncomingMessage } from 'node:http';
import { requirePossibleKey } from '../access/authorize.ts';
import { type DecodedBody, decodeBody, isLongLz64 } from '../bytes/decode-body.ts';
import { claimedSize } from '../bytes/gunzip.ts';
import { type ReceivedBody, receiveBody } from '../bytes/read-body.ts';
import { isMultipart } from '../event-parts/read-parts.ts';
import type { CapturePath } from '../head/capture-path.ts';
import type { CaptureQuery } from '../head/capture-query.ts';
import { inParts } from '../large-bodies/in-parts.ts';
import { isLarge } from '../large-bodies/is-large.ts';
import type { ByteLease } from '../memory/byte-budget.ts';
import { type IncomingRequest, inOnePart } from '../request/incoming-request.ts';
import { parseCaptureRequest, type RequestHints } from '../request/parse-capture-request.ts';
import type { CaptureDependencies } from './capture-dependencies.ts';
import { readPartsRequest } from './read-parts-request.ts';

type ReadDependencies = Pick<CaptureDependencies, 'limits' | 'largeBodies' | 'projectKeys' | 'metrics'>;

interface Reading {
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
  const reading = { said, lease, deps };
  const read = (body: ReceivedBody) =>
    isMultipart(body.hints.contentType)
      ? readPartsRequest(body.raw, request.headers, reading)
      : readReceived(body, reading);
  const received = receiveBody(request, query, { limits: deps.limits, lease, onReceived: deps.metrics.bodyReceived });
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
  { lease, deps }: Reading,
): Promise<IncomingRequest> {
  const { maxDecompressedBytes } = deps.limits;
  const checkKey = (key: string) => requirePossibleKey(key, deps.projectKeys);
  return inParts(await deps.largeBodies.find({ raw, hints, request: said, maxDecompressedBytes, lease, checkKey }));
}
