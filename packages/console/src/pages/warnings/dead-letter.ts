// A dead letter in the API's format: a record that Millrace could not process.

import { text } from './words.ts';

export interface DeadLetter {
  id: string;
  topic: string;
  reason: string;
  detail: string;
  advice: string;
  captured_at: string | null;
  dead_at: string;
  event: string | null;
  distinct_id: string | null;
  bytes: number;
  state: 'waiting' | 'replayed' | 'discarded';
}

export interface DeadLetterPage {
  results: DeadLetter[];
  next: string | null;
}

export interface Decision {
  verb: 'replay' | 'discard';
  ids: readonly string[];
}

/** Formats a dead letter ID, for example as `live · 3 · 1042`. */
export function formatDeadLetterId(id: string): string {
  const [topic = '', partition = '', offset = ''] = id.split('-');
  return text.deadLetters.topicPartitionOffset(topic, partition, offset);
}
