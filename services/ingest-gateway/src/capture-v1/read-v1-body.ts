import type { IncomingMessage } from 'node:http';
import { decodeBody } from '../capture/decode-body.ts';
import { receiveBytes } from '../capture/receive-bytes.ts';
import type { CaptureLimits } from '../config.ts';
import type { ByteLease } from '../limits/byte-budget.ts';
import { decompressorOf } from './decompress.ts';

/**
 * The body as JSON text. What is no text after its encoding was undone is looked at as on the other paths: a sender
 * that forgets to name gzip is understood here too.
 *
 * @param onReceived told the size of the body as it came over the wire.
 * @throws AppError see `decompressorOf`, `receiveBytes` and `decodeBody`.
 */
export async function readV1Body(
  request: IncomingMessage,
  options: { limits: CaptureLimits; lease: ByteLease; onReceived(bytes: number): void },
): Promise<string> {
  const { limits, lease } = options;
  const { maxBodyBytes, bodyTimeoutMs, maxDecompressedBytes } = limits;
  const decompress = decompressorOf(request.headers['content-encoding']);
  const received = await receiveBytes(request, { maxBodyBytes, bodyTimeoutMs, lease });
  options.onReceived(received.length);
  const bytes = received.length === 0 ? received : await decompress(received, maxDecompressedBytes, lease);
  const hints = { compression: null, contentType: 'application/json', contentEncoding: '' };
  const { json } = await decodeBody(bytes, hints, { maxDecompressedBytes, lease });
  return json.toString('utf8');
}
