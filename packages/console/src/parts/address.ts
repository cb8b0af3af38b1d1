import { useNavigate, useSearch } from '@tanstack/react-router';

/** Reads one part of the address; `undefined` = it makes no sense. */
type Part<Value> = { read: (text: string) => Value | undefined; absent: Value };

/** Parts of an address: any text, one of some words, a yes, a list of texts. */
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

/** Any text that can be used. */
export const matching = (isUsable: (value: string) => boolean, absent = ''): Part<string> => ({
  read: (text) => (isUsable(text) ? text : undefined),
  absent,
});

export const isUuid = (text: string) => /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(text);

type Values<Parts> = { [Name in keyof Parts]: Parts[Name] extends Part<infer Value> ? Value : never };

/**
 * The view of a page lies in its address: what is chosen is read from there and written there, so that a copied address shows the same and
 * back and forward walk through views.
 * @param parts by name in the address; made once, beside the page
 * @returns `view`, `change` (a new entry of the history, or with `replace` the same: for each letter typed), and the names in
 *   the address that mean nothing here (`<AddressHint>`)
 */
export function useAddress<
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
