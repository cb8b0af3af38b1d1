import { visible } from './json-text.ts';
import './person-name.css';

/** A person as far as a list names one. */
export interface NamedPerson {
  properties?: Record<string, unknown> | undefined;
  distinct_ids?: readonly string[] | undefined;
}

const filled = (value: unknown) => (typeof value === 'string' && value.trim() !== '' ? value.slice(0, 100) : '');

/** How a person is called on every page: by name, else by e-mail, which they may lack. */
export function nameOf({ name, email, $email, username }: Record<string, unknown>): string {
  return [name, email, $email, username].map(filled).find((one) => one !== '') ?? '';
}

/** A person in one line: the name, else a distinct ID. */
export const titleOf = ({ properties = {}, distinct_ids: ids = [] }: NamedPerson) =>
  visible(nameOf(properties) || (ids[0]?.slice(0, 200) ?? ''));

/** What tells persons of the same name apart: the e-mail, or else a distinct ID. Empty where the name is that already. */
export function subtitleOf(person: NamedPerson): string {
  const { properties = {}, distinct_ids: ids = [] } = person;
  const second = filled(properties.email) || filled(properties.$email) || (ids[0]?.slice(0, 200) ?? '');
  return visible(second) === titleOf(person) ? '' : visible(second);
}

/** Letters in a circle, of a color that belongs to the name. */
export function Avatar({ name }: { name: string }) {
  const letters = name.includes('@') ? name.slice(0, 1) : name.split(/\s+/, 2).map((word) => [...word][0]);
  const color = [...name].reduce((sum, letter) => sum + (letter.codePointAt(0) ?? 0), 0) % 4;
  return (
    <span className="avatar" data-color={color + 1} aria-hidden="true" translate="no">
      {[letters].flat().join('').toUpperCase()}
    </span>
  );
}
