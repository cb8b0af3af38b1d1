import type { CapturedEvent } from '@millrace/contracts';
import type { RawFields, RawValue } from '../json/event-fields.ts';

/**
 * The value of a log record, like `encodeCapturedRecord` makes it, but the fields that are passed on are copied as they
 * were written: parsing them and writing them again is most of what an event costs.
 */
export function encodeRawRecord(record: CapturedEvent, raw: RawFields): Buffer {
  const { $set, $set_once, $unset, properties } = raw;
  const head = headOf(record);
  const size = Buffer.byteLength(head) + room($set, 8) + room($set_once, 13) + room($unset, 10);
  const value = Buffer.allocUnsafe(size + (properties === null ? 16 : room(properties, 14)) + 1);
  let at = value.write(head, 0, 'utf8');
  if ($set !== null) at = copy(value, at, ',"$set":', raw.json, $set);
  if ($set_once !== null) at = copy(value, at, ',"$set_once":', raw.json, $set_once);
  if ($unset !== null) at = copy(value, at, ',"$unset":', raw.json, $unset);
  if (properties === null) at += value.write(',"properties":{}', at, 'latin1');
  else at = copy(value, at, ',"properties":', raw.json, properties);
  value[at] = 0x7d;
  return value;
}

/** Everything the gateway adds, and the fields it has read. */
function headOf(record: CapturedEvent): string {
  const { uuid, token, distinct_id: distinctId, event, timestamp, now, sent_at: sentAt, ip } = record;
  const stamp = record.environment_id === undefined ? '' : `"environment_id":${record.environment_id},`;
  let head = `{"kind":"event","uuid":"${uuid}","token":${JSON.stringify(token)},${stamp}"distinct_id":${JSON.stringify(distinctId)},"event":${JSON.stringify(event)},"timestamp":"${timestamp}","now":"${now}"`;
  if (sentAt !== undefined) head += `,"sent_at":"${sentAt}"`;
  head += ip === null ? ',"ip":null' : `,"ip":${JSON.stringify(ip)}`;
  if (record.cookieless_mode) head += ',"cookieless_mode":true';
  if (record.historical_migration) head += ',"historical_migration":true';
  if (record.plan_unchecked) head += ',"plan_unchecked":true';
  if (record.force_disable_person_processing) head += ',"force_disable_person_processing":true';
  return head;
}

function room(value: RawValue | null, nameBytes: number): number {
  return value === null ? 0 : nameBytes + value.end - value.start;
}

function copy(target: Buffer, start: number, name: string, json: Buffer, value: RawValue): number {
  const at = start + target.write(name, start, 'latin1');
  return at + json.copy(target, at, value.start, value.end);
}
