import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import type { SiteOptions } from './start-site.ts';

/**
 * Returns pages under `/reference` that load posthog-js as `window.posthog` without starting it. The pages of this
 * library work in the same way.
 */
export async function referenceFiles(): Promise<NonNullable<SiteOptions['files']>> {
  const { outputFiles } = await build({
    stdin: {
      contents: `import posthog from 'posthog-js'; window.posthog = posthog;`,
      resolveDir: fileURLToPath(new URL('..', import.meta.url)),
    },
    bundle: true,
    write: false,
    format: 'esm',
    logLevel: 'error',
  });
  const page = `<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Shop</title>
<script type="module" src="/reference.js"></script></head><body></body></html>`;
  return {
    '/reference.js': { type: 'text/javascript', content: outputFiles[0]?.text ?? '' },
    '/reference': { type: 'text/html; charset=utf-8', content: page },
  };
}

export const referenceOptions = {
  disable_external_dependency_loading: true,
  disable_session_recording: true,
  disable_surveys: true,
  advanced_disable_flags: true,
};
