import { type ProcessedPersonMode, processedEventKey, processedEventVersion } from '@millrace/contracts';
import type { AppendRecord } from '@millrace/event-log';
import { personMode } from '../model/event-row.ts';
import type { StoredEvent } from './stored-event-store.ts';

const modeNames = new Map<number, ProcessedPersonMode>([
  [personMode.full, 'full'],
  [personMode.propertyless, 'propertyless'],
  [personMode.forceUpgrade, 'force_upgrade'],
]);

/** The record of `events.processed` for a stored event (packages/contracts, ProcessedEvent). */
export function toProcessedRecord(event: StoredEvent, topic: string): AppendRecord {
  const { projectId: project_id, personUuid: person_id } = event;
  const head = {
    version: processedEventVersion,
    uuid: event.uuid,
    project_id,
    event: event.event,
    distinct_id: event.distinctId,
    timestamp: isoTime(event.timestampMs),
    captured_at: isoTime(event.capturedAtMs),
    elements_chain: event.elementsChain,
    person_id,
    person_created_at: event.personCreatedAtMs === null ? null : isoTime(event.personCreatedAtMs),
    person_mode: modeNames.get(event.personMode) ?? 'full',
    historical_migration: event.isHistorical,
  };
  // The two large fields are JSON text already.
  const large = `"properties":${event.properties},"person_properties":${event.personProperties}`;
  const value = Buffer.from(`${JSON.stringify(head).slice(0, -1)},${large}}`);
  return { topic, key: processedEventKey({ project_id, person_id }), value };
}

function isoTime(ms: number): string {
  return new Date(Math.round(ms)).toISOString();
}
