// Minifies the bundled browser library.

import { minify } from '@swc/core';

export interface Code {
  code: string;
  /** The source map of `code`, with the sources included. */
  sourceMap: string;
}

/**
 * How the code is used: a page runs a script or a module unchanged, while a bundler includes a module in an
 * application.
 */
export type Kind = 'script' | 'module' | 'module for bundlers';

/** Do not inline functions, because inlining makes the gzipped scripts larger. */
const asWritten = { inline: 0, reduce_funcs: false } as const;
/** Do not move variables, because the names that bundlers then choose compress worse. */
const forBundlers = { reduce_vars: false, collapse_vars: false } as const;

/**
 * Chromium then compiles all functions on another thread while the script downloads. Otherwise it compiles each on its
 * first call, and most of them are first called by `init`. https://v8.dev/blog/explicit-compile-hints
 */
const compileBeside = '//# allFunctionsCalledOnLoad\n';

/** Minifies esbuild's output, by about 4 % more than esbuild itself. */
export async function minifyCode(bundled: Code, kind: Kind): Promise<Code> {
  const isModule = kind !== 'script';
  const { code, map = '' } = await minify(bundled.code, {
    ecma: 2021,
    module: isModule,
    // Keep directives, because `directives: true` would remove `'use client'` as meaningless.
    compress: {
      ...{ passes: 3, toplevel: isModule, directives: false, ...asWritten },
      ...(kind === 'module for bundlers' && forBundlers),
    },
    mangle: { toplevel: isModule },
    // Without these annotations, a bundler keeps unused code.
    format: { comments: 'some', preserveAnnotations: true, ...(kind === 'script' && { preamble: compileBeside }) },
    // The types do not declare an existing source map as input.
    sourceMap: { content: bundled.sourceMap } as unknown as boolean,
  });
  return { code, sourceMap: map };
}
