import type { IncomingHttpHeaders } from 'node:http';
import { requirePossibleKey } from '../access/authorize.ts';
import type { ProjectKeys } from '../access/project-keys.ts';
import { claimedSize } from '../bytes/gunzip.ts';
import type { CaptureLimits } from '../config.ts';
import { decodeParts } from '../event-parts/decode-parts.ts';
import { inParts } from '../large-bodies/in-parts.ts';
import { isLarge } from '../large-bodies/is-large.ts';
import type { LargeBodies } from '../large-bodies/large-bodies.ts';
import type { ByteLease } from '../memory/byte-budget.ts';
import { type IncomingRequest, inOnePart } from '../request/incoming-request.ts';
import { parseCaptureRequest, type RequestHints } from '../request/parse-capture-request.ts';

export interface ReadingParts {
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
export async function readPartsRequest(
  raw: Buffer,
  headers: IncomingHttpHeaders,
  { said, lease, deps }: ReadingParts,
): Promise<IncomingRequest> {
  const { maxDecompressedBytes, maxRecordBytes } = deps.limits;
  const bearer = bearerOf(headers.authorization);
  if (bearer !== null) await requirePossibleKey(bearer, deps.projectKeys);
  const body = { raw, contentType: headers['content-type'] ?? '', bearer };
  const options = { maxDecompressedBytes, maxRecordBytes, lease };
  if (isLarge(raw.length) || isLarge(claimedSize(raw))) {
    const found = await deps.largeBodies.findInParts({ ...body, ...options, request: said });
    return { ...inParts(found), leftOut: found.leftOut };
  }
  const { json, leftOut } = await decodeParts(body, options);
  return { ...inOnePart(parseCaptureRequest(json, said)), leftOut };
}

function bearerOf(authorization: string | undefined): string | null {
  return /^Bearer\s+(\S.*)$/i.exec(authorization?.trim() ?? '')?.[1] ?? null;
}
