import type { DoctorSettings } from '../doctor-settings.ts';
import { type Finding, warning } from '../finding.ts';

/** The largest body fits into memory, and the largest event into the largest body. */
export function bodies(settings: DoctorSettings): Finding[] {
  return [memory(settings), events(settings), unpacked(settings)].filter((finding) => finding !== null);
}

function memory({ maxBodyBytes, maxInFlightBytes, gatewayProcesses }: DoctorSettings): Finding | null {
  const share = Math.floor(maxInFlightBytes / gatewayProcesses);
  if (share >= maxBodyBytes) return null;
  const each = gatewayProcesses === 1 ? '' : `, shared out among ${gatewayProcesses} processes (GATEWAY_PROCESSES),`;
  return warning(
    `MAX_IN_FLIGHT_BYTES (${maxInFlightBytes})${each} is less than MAX_BODY_BYTES (${maxBodyBytes}): the largest bodies are always answered with 503, and sent again and again`,
    'raise MAX_IN_FLIGHT_BYTES to several times MAX_BODY_BYTES for each process',
  );
}

function events({ maxBodyBytes, maxRecordBytes }: DoctorSettings): Finding | null {
  if (maxRecordBytes <= maxBodyBytes) return null;
  return warning(
    `MAX_RECORD_BYTES (${maxRecordBytes}) is more than MAX_BODY_BYTES (${maxBodyBytes}): no such event can come in`,
    'raise MAX_BODY_BYTES, or lower MAX_RECORD_BYTES',
  );
}

function unpacked({ maxBodyBytes, maxDecompressedBytes }: DoctorSettings): Finding | null {
  if (maxDecompressedBytes >= maxBodyBytes) return null;
  return warning(
    `MAX_DECOMPRESSED_BYTES (${maxDecompressedBytes}) is less than MAX_BODY_BYTES (${maxBodyBytes}): bodies between the two are refused, packed or not`,
    'raise MAX_DECOMPRESSED_BYTES, or lower MAX_BODY_BYTES',
  );
}
