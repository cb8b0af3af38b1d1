import { minify } from '@swc/core';

export interface Code {
  code: string;
  /** Of `code`, with the sources in it. */
  sourceMap: string;
}

/** What it is, and who makes something of it: a page runs it as it is, a bundler makes it part of an application. */
export type Kind = 'script' | 'module' | 'module for bundlers';

/** Functions are not put into each other: after gzip that makes scripts larger. */
const asWritten = { inline: 0, reduce_funcs: false } as const;
/** Bundlers name all again, which they do worse for what was moved. */
const forBundlers = { reduce_vars: false, collapse_vars: false } as const;

/**
 * Chromium then compiles all functions beside the page while the script arrives, instead of each when it is first called, which
 * most are in the task of `init`. https://v8.dev/blog/explicit-compile-hints
 */
const compileBeside = '//# allFunctionsCalledOnLoad\n';

/** Shortens what esbuild has put together, by some 4 % more than esbuild itself does. */
export async function minifyCode(bundled: Code, kind: Kind): Promise<Code> {
  const isModule = kind !== 'script';
  const { code, map = '' } = await minify(bundled.code, {
    ecma: 2021,
    module: isModule,
    // `directives` would take `'use client'` for one that says nothing.
    compress: {
      ...{ passes: 3, toplevel: isModule, directives: false, ...asWritten },
      ...(kind === 'module for bundlers' && forBundlers),
    },
    mangle: { toplevel: isModule },
    // Without these marks a bundler keeps what nobody uses.
    format: { comments: 'some', preserveAnnotations: true, ...(kind === 'script' && { preamble: compileBeside }) },
    // Its types know of no map that is there already.
    sourceMap: { content: bundled.sourceMap } as unknown as boolean,
  });
  return { code, sourceMap: map };
}
