import type { CompiledFlag, CompiledFlags } from '../compile/compiled.ts';

/** Which flags a request asks about. Nothing said: all. */
export interface FlagSelection {
  /** What the caller runs on; `unknown` gets only flags that are for both. */
  runtime?: 'all' | 'client' | 'server' | 'unknown';
  /** Flags that name contexts are kept when they have one in common. */
  contexts?: readonly string[];
  /** Keys; what they depend on comes along. Unknown ones are ignored. */
  keys?: readonly string[];
  /** Only those that begin so. */
  keyPrefix?: string;
}

/** The flags to evaluate, each behind what it depends on. */
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

/** From the last to the first: each flag has been asked for by the time it is looked at. */
function withDependencies(offered: CompiledFlag[], keys: readonly string[]): CompiledFlag[] {
  const asked = new Set(keys);
  const wanted = new Set<number>();
  for (const flag of offered.toReversed()) {
    if (!asked.has(flag.key) && !wanted.has(flag.id)) continue;
    wanted.add(flag.id);
    for (const dependency of flag.dependencies) wanted.add(dependency);
  }
  return offered.filter(({ id }) => wanted.has(id));
}
