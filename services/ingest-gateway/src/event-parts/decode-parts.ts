import { gunzip, hasGzipMagic } from '../bytes/gunzip.ts';
import { outlineJson } from '../json/json-outline.ts';
import type { ByteLease } from '../memory/byte-budget.ts';
import { assembleEvent } from './assemble-event.ts';
import { readParts } from './read-parts.ts';

/** A multipart body as it came. */
export interface PartsBody {
  raw: Buffer;
  /** As it was sent. */
  contentType: string;
  /** The project API key beside the body; it counts before one in the event. */
  bearer: string | null;
}

export interface DecodedParts {
  /** One event. */
  json: Buffer;
  /** Parts that are not stored (`assembleEvent`). */
  leftOut: string[];
}

export interface DecodePartsOptions {
  maxDecompressedBytes: number;
  maxRecordBytes: number;
  lease: ByteLease;
}

/** Smaller parts are parsed faster than looked over. */
const largeBytes = 128 * 1024;

/**
 * From a multipart body to the JSON text of its event; as a whole it may be gzip.
 *
 * @throws AppError see `gunzip`, `readParts`, `assembleEvent`; `too_large` (`too_many_values`).
 */
export async function decodeParts(
  { raw, contentType, bearer }: PartsBody,
  { maxDecompressedBytes, maxRecordBytes, lease }: DecodePartsOptions,
): Promise<DecodedParts> {
  const bytes = hasGzipMagic(raw) ? await gunzip(raw, maxDecompressedBytes, lease) : raw;
  const parts = await readParts(bytes, contentType, lease);
  for (const part of parts) if (part.bytes.length >= largeBytes) await outlineJson(part.bytes, lease);
  const { event, leftOut } = assembleEvent(parts, maxRecordBytes);
  if (bearer !== null) event.api_key = bearer;
  const json = Buffer.from(JSON.stringify(event), 'utf8');
  lease.take(json.length);
  return { json, leftOut };
}
