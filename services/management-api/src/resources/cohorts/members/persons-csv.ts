import type { PersonRow } from '../../shown-persons/person-row.ts';

const header = ['person_id', 'distinct_id', 'email', 'is_identified', 'created_at'];

/** Persons as CSV (RFC 4180), with the headers by which a static cohort can be made of it again. */
export function personsCsv(persons: PersonRow[]): string {
  const rows = persons.map(({ uuid, main_distinct_id, properties: { email }, is_identified, created_at }) => [
    uuid,
    main_distinct_id,
    typeof email === 'string' ? email : '',
    String(is_identified),
    created_at.toISOString(),
  ]);
  return [header, ...rows].map((row) => `${row.map(quoted).join(',')}\r\n`).join('');
}

function quoted(text: string): string {
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
