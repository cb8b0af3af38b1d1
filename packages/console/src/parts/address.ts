// Stores a page's state, such as its filters, in the URL.

import { useNavigate, useSearch } from '@tanstack/react-router';

/** A URL parameter. `read` returns `undefined` for an invalid value. */
type Part<Value> = { read: (text: string) => Value | undefined; absent: Value };

/** The types of URL parameters: any string, one of several strings, a boolean, and a list of strings. */
export const part = {
  text: (): Part<string> => ({ read: (text) => text, absent: '' }),
  oneOf: <Word extends string>(words: readonly Word[], absent: Word): Part<Word> => ({
    read: (text) => words.find((word) => word === text),
    absent,
  }),
  flag: (): Part<boolean> => ({
    read: (text) => (text === 'true' ? true : text === 'false' ? false : undefined),
    absent: false,
  }),
  list: (): Part<readonly string[]> => ({
    read: (text) => {
      try {
        const list: unknown = JSON.parse(text);
        return Array.isArray(list) && list.every((one) => typeof one === 'string') ? list : undefined;
      } catch {
        return undefined;
      }
    },
    absent: [],
  }),
};

/** A string parameter that accepts only values for which `isUsable` returns true. */
export const matchingText = (isUsable: (value: string) => boolean, absent = ''): Part<string> => ({
  read: (text) => (isUsable(text) ? text : undefined),
  absent,
});

export const isUuid = (text: string) => /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(text);

type Values<Parts> = { [Name in keyof Parts]: Parts[Name] extends Part<infer Value> ? Value : never };

/**
 * Stores a page's view in the URL. A copied URL therefore opens the same view, and Back and Forward switch between
 * views.
 * @param parts the parameters by name, which must be defined once, at module level
 * @returns `view`, `change`, and the names of unknown URL parameters (for `<AddressHint>`). `change` adds a history
 * entry. With `replace`, it updates the current entry, for example for each typed character.
 */
export function useUrlState<
  Parts extends Record<string, Part<never> | Part<string> | Part<boolean> | Part<readonly string[]>>,
>(parts: Parts) {
  const search = useSearch({ strict: false }) as Record<string, string>;
  const navigate = useNavigate();
  const view: Record<string, unknown> = {};
  const unknown = Object.keys(search).filter((name) => !(name in parts));
  for (const [name, { read, absent }] of Object.entries(parts)) {
    const given = search[name];
    const value = given === undefined ? absent : read(given);
    if (value === undefined) unknown.push(name);
    view[name] = value ?? absent;
  }
  const change = (changed: Partial<Values<Parts>>, { replace = false } = {}) => {
    const next: Record<string, string | undefined> = {};
    for (const [name, value] of Object.entries({ ...view, ...changed }))
      next[name] = written(value, parts[name]?.absent);
    void navigate({ to: '.', search: next as never, replace });
  };
  return { view: view as Values<Parts>, change, unknown };
}

function written(value: unknown, absent: unknown): string | undefined {
  if (Array.isArray(value)) return value.length === 0 ? undefined : JSON.stringify(value);
  return value === absent ? undefined : String(value);
}
