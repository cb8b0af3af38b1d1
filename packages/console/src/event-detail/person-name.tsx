// Defines how all pages display a person: with a name, a subtitle and an avatar.

import { escapeInvisible } from './json-text.ts';
import './person-name.css';

export interface NamedPerson {
  properties?: Record<string, unknown> | undefined;
  distinct_ids?: readonly string[] | undefined;
}

const filled = (value: unknown) => (typeof value === 'string' && value.trim() !== '' ? value.slice(0, 100) : '');

/**
 * Returns a person's name or, if it is missing, the email address. Returns an empty string if the person has neither.
 */
export function findPersonName({ name, email, $email, username }: Record<string, unknown>): string {
  return [name, email, $email, username].map(filled).find((one) => one !== '') ?? '';
}

/** Returns a one-line title for a person: the name or, if it is missing, a distinct ID. */
export const formatPersonTitle = ({ properties = {}, distinct_ids: ids = [] }: NamedPerson) =>
  escapeInvisible(findPersonName(properties) || (ids[0]?.slice(0, 200) ?? ''));

/**
 * Returns a subtitle that distinguishes persons with the same name: the email address or, if it is missing, a distinct
 * ID. Returns an empty string if the title already contains it.
 */
export function formatPersonSubtitle(person: NamedPerson): string {
  const { properties = {}, distinct_ids: ids = [] } = person;
  const second = filled(properties.email) || filled(properties.$email) || (ids[0]?.slice(0, 200) ?? '');
  return escapeInvisible(second) === formatPersonTitle(person) ? '' : escapeInvisible(second);
}

export function Avatar({ name }: { name: string }) {
  const letters = name.includes('@') ? name.slice(0, 1) : name.split(/\s+/, 2).map((word) => [...word][0]);
  const color = [...name].reduce((sum, letter) => sum + (letter.codePointAt(0) ?? 0), 0) % 4;
  return (
    <span className="avatar" data-color={color + 1} aria-hidden="true" translate="no">
      {[letters].flat().join('').toUpperCase()}
    </span>
  );
}
