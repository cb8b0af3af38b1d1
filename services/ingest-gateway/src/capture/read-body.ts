import type { IncomingMessage } from 'node:http';
import type { CaptureLimits } from '../config.ts';
import type { ByteLease } from '../limits/byte-budget.ts';
import { restorePlus } from './base64-text.ts';
import type { CaptureQuery } from './capture-query.ts';
import { type DecodedBody, decodeBody, missingData } from './decode-body.ts';
import { receiveBytes } from './receive-bytes.ts';

/**
 * Station 2: the bytes of a request as JSON text. Query parameter `data` stands in for the body when it is there
 * (reference/ingest-wire.md section 3.2 step 1).
 *
 * @param onReceived told the size of the body as it came over the wire.
 * @throws AppError see `receiveBytes` and `decodeBody`.
 */
export async function readBody(
  request: IncomingMessage,
  query: CaptureQuery,
  options: { limits: CaptureLimits; lease: ByteLease; onReceived(bytes: number): void },
): Promise<DecodedBody> {
  const { limits, lease } = options;
  const { maxBodyBytes, bodyTimeoutMs, maxDecompressedBytes } = limits;
  // Named one by one: the limits are the whole frozen config, and spreading it costs 12 µs a request.
  const body = await receiveBytes(request, { maxBodyBytes, bodyTimeoutMs, lease });
  const raw = query.data === null ? body : Buffer.from(restorePlus(query.data), 'utf8');
  options.onReceived(raw.length);
  if (raw.length === 0) throw missingData();
  const hints = {
    compression: query.compression,
    contentType: query.data === null ? (request.headers['content-type'] ?? '').toLowerCase() : '',
    contentEncoding: query.data === null ? (request.headers['content-encoding'] ?? '').toLowerCase() : '',
  };
  return decodeBody(raw, hints, { maxDecompressedBytes, lease });
}
