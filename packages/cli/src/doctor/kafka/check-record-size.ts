import type { InspectedTopic } from '@millrace/event-log';
import { type Finding, listed, ok, problem, warning } from '../finding.ts';

/** Around the largest event are its key, headers, and the head of its batch. */
const aroundBytes = 4096;

/** The largest event a gateway takes fits into the topics. */
export function checkRecordSize(topics: readonly InspectedTopic[], maxRecordBytes: number): Finding[] {
  if (topics.some(({ settings }) => settings === null)) return [unreadable];
  const small = topics.filter(({ settings }) => {
    const most = settings?.get('max.message.bytes');
    return most !== undefined && Number(most) < maxRecordBytes + aroundBytes;
  });
  if (small.length === 0) return [ok(`events of MAX_RECORD_BYTES (${maxRecordBytes}) fit into all topics`)];
  const names = small.map(({ topic, settings }) => `${topic} (${settings?.get('max.message.bytes')})`);
  return [
    problem(
      `max.message.bytes is too little for events of MAX_RECORD_BYTES (${maxRecordBytes}) in ${listed(names)}: large ones are refused`,
      `set max.message.bytes to at least ${maxRecordBytes + aroundBytes}, or lower MAX_RECORD_BYTES`,
    ),
  ];
}

const unreadable = warning(
  'the settings of topics cannot be read by this user: sizes, retention and copies were not checked',
  'give the user of KAFKA_SASL_USERNAME the right DescribeConfigs on the topics, or look by hand',
);
