import { createHash } from 'node:crypto';
import type { JsonObject } from './check-line.ts';

/**
 * The JSON text of an event with its uuid. One that has none gets one derived from what the line says and where it
 * stands, so that a file sent twice, whole or in part, is stored once. Two equal lines of a file are two events: they
 * stand on different lines.
 */
export function withUuid(event: JsonObject, text: string, lineNumber: number): string {
  if (event.uuid) return text;
  const uuid = deriveUuid(text, lineNumber);
  // The text is sent as it is: numbers keep digits that a JavaScript number does not have.
  if (!('uuid' in event)) return `{"uuid":"${uuid}",${text.slice(1)}`;
  return JSON.stringify({ ...event, uuid });
}

/** A UUID of version 8 (RFC 9562): 122 bits of a SHA-256. */
function deriveUuid(text: string, lineNumber: number): string {
  const hash = createHash('sha256').update(`${lineNumber}\n`).update(text).digest();
  hash.writeUInt8((hash.readUInt8(6) & 0x0f) | 0x80, 6);
  hash.writeUInt8((hash.readUInt8(8) & 0x3f) | 0x80, 8);
  return hash.toString('hex', 0, 16).replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
}
