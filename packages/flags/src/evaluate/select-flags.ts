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

/**
 * How many flags are left out only because it is not known where the caller runs. Those that a client or server is not meant to
 * have do not count.
 */
export function countWithheld(flags: CompiledFlags, selection: FlagSelection): number {
  if (selection.runtime !== 'unknown') return 0;
  const contexts = new Set(selection.contexts);
  const asked = selection.keys && new Set(selection.keys);
  const anywhere: FlagSelection = { ...selection, runtime: 'all' };
  return flags.inOrder.filter(
    (flag) =>
      flag.runtime !== 'all' && (asked === undefined || asked.has(flag.key)) && isOffered(flag, anywhere, contexts),
  ).length;
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
