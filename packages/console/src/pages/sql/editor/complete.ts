// Suggests completions while the user types SQL: tables, columns, functions, and names of events and properties.

import type { Completion, CompletionContext, CompletionResult, CompletionSource } from '@codemirror/autocomplete';
import { syntaxTree } from '@codemirror/language';
import type { EditorView } from '@codemirror/view';
import { keywords } from './language.ts';
import {
  findDefinedNames,
  findTables,
  listFields,
  type PropertyOwner,
  quoteName,
  resolveFieldPath,
  type SqlSchema,
  splitPath,
} from './names.ts';

export interface FoundNames {
  names: readonly string[];
  /** Whether the server has more names than it returned. */
  hasMore: boolean;
}

export interface NameLoaders {
  /** Loads the schema. Returns null if loading fails. */
  schema: () => Promise<SqlSchema | null>;
  events: (search: string) => Promise<FoundNames>;
  properties: (owner: PropertyOwner, search: string) => Promise<FoundNames>;
  variables: () => Promise<readonly { code_name: string; type: string }[]>;
}

/** Returns a completion source for tables, columns, properties, functions, keywords and event names. */
export const createCompletionSource =
  (nameLoaders: () => NameLoaders): CompletionSource =>
  async (context) => {
    const inside = syntaxTree(context.state).resolveInner(context.pos, -1).name;
    if (inside === 'comment') return null;
    if (inside === 'string') return eventNames(context, nameLoaders());
    const word = context.matchBefore(/(?:(?:[\w$]+|`[^`]*`|"[^"]*")\.)*[\w$]*$/);
    if (word === null || (word.text === '' && !context.explicit)) return null;
    const split = word.text.lastIndexOf('.') + 1;
    const typed = { from: word.from + split, text: word.text.slice(split) };
    if (/^variables\.$/.test(word.text.slice(0, split)) && /\{\s*$/.test(context.state.sliceDoc(0, word.from)))
      return {
        from: typed.from,
        options: (await nameLoaders().variables()).map(variableOption),
        validFor: /^[\p{L}\p{N}_]*$/u,
      };
    if (split > 0) return afterDot(context, nameLoaders(), { path: word.text.slice(0, split), typed });
    const schema = await nameLoaders().schema();
    if (context.aborted) return null;
    return { from: typed.from, options: anyName(context, schema), validFor: /^[\w$]*$/ };
  };

interface Typed {
  from: number;
  text: string;
}

async function afterDot(
  context: CompletionContext,
  { schema: load, properties }: NameLoaders,
  { path, typed }: { path: string; typed: Typed },
): Promise<CompletionResult | null> {
  const schema = await load();
  const place = schema && resolveFieldPath(splitPath(path), context.state.doc.toString(), schema);
  if (!place) return null;
  if (place.is !== 'properties')
    return { from: typed.from, options: listFields(place, schema).map(columnOption), validFor: /^[\w$]*$/ };
  const { names, hasMore } = await properties(place, typed.text);
  if (context.aborted) return null;
  const options = names.map((label): Completion => ({ label, apply: quoteName(label), type: 'property' }));
  // If the server has more names than it returned, load names again when the user continues typing.
  return { from: typed.from, options, ...(!hasMore && { validFor: /^[\w$]*$/ }) };
}

const columnOption = ({ name, type }: { name: string; type: string }): Completion => ({
  label: name,
  apply: quoteName(name),
  detail: type.replace('_', ' '),
  type: 'property',
  boost: 2,
});

const variableOption = ({ code_name: label, type }: { code_name: string; type: string }): Completion => ({
  label,
  apply: quoteName(label),
  detail: type,
  type: 'variable',
});

function anyName(context: CompletionContext, schema: SqlSchema | null): Completion[] {
  const query = context.state.doc.toString();
  const before = context.state.sliceDoc(Math.max(0, context.pos - 200), context.pos);
  const tables = Object.keys(schema?.tables ?? {}).map((label): Completion => ({ label, type: 'type' }));
  const own = findDefinedNames(query).map((label): Completion => ({ label, type: 'variable', boost: 3 }));
  if (/\b(from|join)\s+[\w$]*$/i.test(before)) return [...tables, ...own];
  const used = findTables(query);
  const sources = used.size === 0 ? ['events'] : [...new Set(used.values())];
  const columns = sources.flatMap((table) => Object.values(schema?.tables[table]?.fields ?? {}).map(columnOption));
  const aliases = [...used.keys()].map((label): Completion => ({ label, type: 'variable' }));
  const functions = (schema?.functions ?? []).map(
    ({ name, type }): Completion => ({ label: name, detail: type, type: 'function', apply: applyCall, boost: -1 }),
  );
  const words = keywords.map((label): Completion => ({ label, type: 'keyword' }));
  const unique = new Map(
    [...words, ...functions, ...tables, ...aliases, ...columns, ...own].map((one) => [one.label, one]),
  );
  return [...unique.values()];
}

/** Inserts a function name with parentheses, and puts the cursor between them. */
function applyCall(view: EditorView, { label }: Completion, from: number, to: number): void {
  const hasParenthesis = view.state.sliceDoc(to, to + 1) === '(';
  view.dispatch({
    changes: { from, to, insert: hasParenthesis ? label : `${label}()` },
    selection: { anchor: from + label.length + 1 },
    userEvent: 'input.complete',
  });
}

/** Completes event names inside a string that the query compares with `event`. */
async function eventNames(context: CompletionContext, { events }: NameLoaders): Promise<CompletionResult | null> {
  const before = context.state.sliceDoc(Math.max(0, context.pos - 2000), context.pos);
  const text = /\bevent\s*(?:=|!=|(?:not\s+)?in\s*\((?:\s*'[^']*'\s*,)*)\s*'([^']*)$/i.exec(before)?.[1];
  if (text === undefined) return null;
  const { names } = await events(text);
  if (context.aborted) return null;
  const escaped = (one: string) => one.replaceAll('\\', '\\\\').replaceAll("'", "\\'");
  return {
    from: context.pos - text.length,
    options: names.map((label) => ({ label, apply: escaped(label), type: 'text' })),
  };
}
