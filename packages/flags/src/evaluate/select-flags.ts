// Chooses the flags that a request evaluates.

import type { CompiledFlag, CompiledFlags } from '../compile/compiled.ts';

/** Restricts the flags that a request evaluates. An empty selection means all flags. */
export interface FlagSelection {
  /** The caller's runtime. Callers with the runtime `unknown` receive only flags for both runtimes. */
  runtime?: 'all' | 'client' | 'server' | 'unknown';
  /** The caller's contexts. A flag with contexts is included only if it shares one with the caller. */
  contexts?: readonly string[];
  /** Keys of the requested flags. Dependencies are included automatically. Unknown keys are ignored. */
  keys?: readonly string[];
  keyPrefix?: string;
}

/** Returns the flags to evaluate. Each flag follows its dependencies. */
export function selectFlags(flags: CompiledFlags, selection: FlagSelection): CompiledFlag[] {
  const contexts = new Set(selection.contexts);
  const offered = flags.inOrder.filter((flag) => isOffered(flag, selection, contexts));
  return selection.keys === undefined ? offered : withDependencies(offered, selection.keys);
}

function isOffered(
  flag: CompiledFlag,
  { runtime = 'all', keyPrefix = '' }: FlagSelection,
  contexts: ReadonlySet<string>,
): boolean {
  const fitsRuntime = runtime === 'all' || flag.runtime === 'all' || flag.runtime === runtime;
  const fitsContext =
    contexts.size === 0 || flag.contexts.length === 0 || flag.contexts.some((context) => contexts.has(context));
  return fitsRuntime && fitsContext && flag.key.startsWith(keyPrefix);
}

/** Counts the flags that are excluded only because the caller's runtime is unknown. */
export function countFlagsWithheldForRuntime(flags: CompiledFlags, selection: FlagSelection): number {
  if (selection.runtime !== 'unknown') return 0;
  const contexts = new Set(selection.contexts);
  const requestedKeys = selection.keys && new Set(selection.keys);
  const anywhere: FlagSelection = { ...selection, runtime: 'all' };
  return flags.inOrder.filter(
    (flag) =>
      flag.runtime !== 'all' &&
      (requestedKeys === undefined || requestedKeys.has(flag.key)) &&
      isOffered(flag, anywhere, contexts),
  ).length;
}

/** Adds the flags' dependencies. Iterates backwards, so that a flag is visited after all flags that depend on it. */
function withDependencies(offered: CompiledFlag[], keys: readonly string[]): CompiledFlag[] {
  const requestedKeys = new Set(keys);
  const selected = new Set<number>();
  for (const flag of offered.toReversed()) {
    if (!requestedKeys.has(flag.key) && !selected.has(flag.id)) continue;
    selected.add(flag.id);
    for (const dependency of flag.dependencies) selected.add(dependency);
  }
  return offered.filter(({ id }) => selected.has(id));
}
