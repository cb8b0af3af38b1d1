import type { IncomingMessage } from 'node:http';
import type { CaptureLimits } from '../config.ts';
import type { CaptureQuery } from '../head/capture-query.ts';
import type { ByteLease } from '../memory/byte-budget.ts';
import { restorePlus } from './base64-text.ts';
import { type BodyHints, missingData } from './decode-body.ts';
import { receiveBytes } from './receive-bytes.ts';

export interface ReadBodyOptions {
  limits: CaptureLimits;
  lease: ByteLease;
  /** Told the size of the body as it came over the wire. */
  onReceived(bytes: number): void;
}

/** A body as it came, and what the request says about it. */
export interface ReceivedBody {
  raw: Buffer;
  hints: BodyHints;
}

/**
 * The first half of step 2: the bytes of a request. Query parameter `data` stands in for the body when it is there
 * (docs/wire-rules.md#decoding-of-bodies).
 *
 * @throws AppError see `receiveBytes`; `invalid` when there is nothing.
 */
export function receiveBody(
  request: IncomingMessage,
  query: CaptureQuery,
  { limits, lease, onReceived }: ReadBodyOptions,
): ReceivedBody | Promise<ReceivedBody> {
  const { maxBodyBytes, bodyTimeoutMs } = limits;
  const describe = (body: Buffer) => {
    const raw = query.data === null ? body : Buffer.from(restorePlus(query.data), 'utf8');
    onReceived(raw.length);
    if (raw.length === 0) throw missingData();
    const hints = query.data === null ? hintsOf(request, query) : { ...noHints, compression: query.compression };
    return { raw, hints };
  };
  // Each limit is named: `limits` is the whole frozen config, and spreading it costs 12 µs a request.
  const body = receiveBytes(request, { maxBodyBytes, bodyTimeoutMs, lease });
  return body instanceof Promise ? body.then(describe) : describe(body);
}

const noHints: BodyHints = { compression: null, contentType: '', contentEncoding: '' };

function hintsOf({ headers }: IncomingMessage, { compression }: CaptureQuery): BodyHints {
  return {
    compression,
    contentType: (headers['content-type'] ?? '').toLowerCase(),
    contentEncoding: (headers['content-encoding'] ?? '').toLowerCase(),
  };
}
