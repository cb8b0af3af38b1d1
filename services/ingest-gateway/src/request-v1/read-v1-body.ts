import type { IncomingMessage } from 'node:http';
import { decodeBody } from '../bytes/decode-body.ts';
import { receiveBytes } from '../bytes/receive-bytes.ts';
import type { CaptureLimits } from '../config.ts';
import type { ByteLease } from '../memory/byte-budget.ts';
import { decompressorOf } from './decompress.ts';

/** The bytes of a body before anything is undone. */
export interface V1Body {
  raw: Buffer;
  /** As the header has it; understood. */
  contentEncoding: string | undefined;
}

/**
 * Receives a body, once its encoding is known to be one that can be undone.
 *
 * @param onReceived told the size of the body as it came over the wire.
 * @throws AppError see `decompressorOf` and `receiveBytes`.
 */
export async function receiveV1Body(
  request: IncomingMessage,
  options: { limits: CaptureLimits; lease: ByteLease; onReceived(bytes: number): void },
): Promise<V1Body> {
  const { limits, lease } = options;
  const { maxBodyBytes, bodyTimeoutMs } = limits;
  const contentEncoding = request.headers['content-encoding'];
  decompressorOf(contentEncoding);
  const raw = await receiveBytes(request, { maxBodyBytes, bodyTimeoutMs, lease });
  options.onReceived(raw.length);
  return { raw, contentEncoding };
}

/**
 * The body as JSON text. When it is no text after its encoding was undone, it is decoded like on the other paths: a
 * sender that forgets to name gzip is understood here too.
 *
 * @throws AppError see `decompressorOf` and `decodeBody`.
 */
export async function decodeV1Body(
  { raw, contentEncoding }: V1Body,
  { maxDecompressedBytes, lease }: { maxDecompressedBytes: number; lease: ByteLease },
): Promise<Buffer> {
  const decompress = decompressorOf(contentEncoding);
  const bytes = raw.length === 0 ? raw : await decompress(raw, maxDecompressedBytes, lease);
  const hints = { compression: null, contentType: 'application/json', contentEncoding: '' };
  const { json } = await decodeBody(bytes, hints, { maxDecompressedBytes, lease });
  return json;
}
