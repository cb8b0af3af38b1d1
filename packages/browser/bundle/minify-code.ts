// Minifies the bundled browser library.

import { minify } from '@swc/core';

export interface Code {
  code: string;
  /** The source map of `code`, with the sources included. */
  sourceMap: string;
}

/** How the code is used. A page runs a script or a module unchanged. A bundler includes a module in an application. */
export type Kind = 'script' | 'module' | 'module for bundlers';

/** Do not inline functions, because inlining makes the gzipped scripts larger. */
const asWritten = { inline: 0, reduce_funcs: false } as const;
/** Do not move variables, because the names that bundlers then choose are harder to compress. */
const forBundlers = { reduce_vars: false, collapse_vars: false } as const;

/**
 * Makes Chromium compile all functions on another thread while the script downloads. Otherwise, it compiles each
 * function when it is first called, and `init` calls most of them. https://v8.dev/blog/explicit-compile-hints
 */
const compileBeside = '//# allFunctionsCalledOnLoad\n';

/** Minifies esbuild's output. The result is about 4 % smaller than if esbuild minified it. */
export async function minifyCode(bundled: Code, kind: Kind): Promise<Code> {
  const isModule = kind !== 'script';
  const { code, map = '' } = await minify(bundled.code, {
    ecma: 2021,
    module: isModule,
    // Do not set `directives: true`, because it would remove `'use client'`.
    compress: {
      ...{ passes: 3, toplevel: isModule, directives: false, ...asWritten },
      ...(kind === 'module for bundlers' && forBundlers),
    },
    mangle: { toplevel: isModule },
    // These annotations let a bundler remove unused code.
    format: { comments: 'some', preserveAnnotations: true, ...(kind === 'script' && { preamble: compileBeside }) },
    // The types do not allow an existing source map as input.
    sourceMap: { content: bundled.sourceMap } as unknown as boolean,
  });
  return { code, sourceMap: map };
}
