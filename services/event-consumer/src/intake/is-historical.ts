/** Public guidance: what is migrated is at least this old. */
const minHistoricalAgeMs = 48 * 3_600_000;

/**
 * Whether the stored event is marked as migrated. A client may call anything historical; the marker stays only when the
 * event is at least 48 hours old, or when its time is unknown (null). The event is processed alike either way
 * (docs/ingestion-rules.md#historical-migrations).
 */
export function isHistorical(isFlagged: boolean, timestampMs: number | null, nowMs: number): boolean {
  return isFlagged && (timestampMs === null || nowMs - timestampMs >= minHistoricalAgeMs);
}
