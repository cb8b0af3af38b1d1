import { shortNames } from '@millrace/browser/internal-names';
import type { BuildOptions } from 'esbuild';

/** A library that applications install; its `exports` in the repository are its entries. */
export interface Library {
  directory: string;
  /** What its modules are in a page without modules: the global by entry, and the one each import stands for. */
  globals: { entries: Record<string, string>; imports: Record<string, string> };
  /** For esbuild, beside what all libraries have. */
  options?: BuildOptions;
  /** Begins each of its modules. */
  directive?: string;
  /** Entries that do something when they are imported, and have to stay in an application that uses only others' names. */
  sideEffects: string[];
  /** The script for pages without modules. */
  script: string;
}

export const libraries: Library[] = [
  {
    directory: 'packages/browser',
    globals: { entries: { index: 'Millrace', slim: 'Millrace' }, imports: {} },
    options: shortNames(),
    sideEffects: [],
    script: './array.js',
  },
  {
    directory: 'packages/react',
    globals: {
      entries: { index: 'MillraceReact', slim: 'MillraceReact', surveys: 'MillraceReactSurveys' },
      imports: { react: 'React', '@millrace/browser': '{ posthog: root.posthog }', './index.js': 'MillraceReact' },
    },
    // Frameworks that render components on the server by default take what is in it to the browser.
    directive: "'use client';",
    // Gives the hooks the client they use without a provider.
    sideEffects: ['index'],
    script: './umd/index.js',
  },
];
