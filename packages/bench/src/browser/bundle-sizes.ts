import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { bundleLibrary } from '@millrace/browser/bundle-library';
import { build } from 'esbuild';
import type { SizeMeasurement } from '../report/browser-measurement.ts';

/** What pages load without a build: ours, and the file that the reference's snippet asks for. */
export interface PageScripts {
  millrace: string;
  reference: string;
}

const packages = fileURLToPath(new URL('../../../', import.meta.url));

export async function readPageScripts(): Promise<PageScripts> {
  const reference = await readFile(referenceFile('dist/array.js'), 'utf8');
  return { millrace: (await bundleLibrary('array.js')).code, reference };
}

function referenceFile(path: string): string {
  const manifest = createRequire(import.meta.url).resolve('posthog-js/package.json');
  return join(dirname(manifest), path);
}

/** Each thing that is measured, of both libraries. */
export async function measureSizes(scripts: PageScripts): Promise<SizeMeasurement[]> {
  const [script, slim, slimReference, react, reactReference] = await Promise.all([
    bundle(`import '${packages}browser/src/snippet.ts';`),
    bundle(application(`${packages}browser/src/slim.ts`)),
    bundle(application(referenceFile('dist/module.slim.js'))),
    bundle(`export * from '${packages}react/src/index.ts';`),
    bundle(`export * from '${referenceFile('react/dist/esm/index.js')}';`),
  ]);
  return [
    {
      name: 'script',
      bytes: gzipped(scripts.millrace),
      referenceBytes: gzipped(scripts.reference),
      rooms: script.rooms,
    },
    { name: 'slim', bytes: gzipped(slim.code), referenceBytes: gzipped(slimReference.code), rooms: slim.rooms },
    { name: 'react', bytes: gzipped(react.code), referenceBytes: gzipped(reactReference.code), rooms: react.rooms },
  ];
}

/** One that does with the library what most do. */
function application(library: string): string {
  return `import posthog from '${library}';
    posthog.init('phc_bench', { api_host: 'https://events.example.com' });
    posthog.identify('ada');
    posthog.capture('order placed', { total: 5 });
    posthog.onFeatureFlags(() => console.log(posthog.getFeatureFlag('beta-nav')));`;
}

function gzipped(code: string): number {
  return gzipSync(code, { level: 9 }).length;
}

/** As a common bundler makes it for production, React and what the binding binds left out; bytes before gzip by room. */
async function bundle(contents: string) {
  const { outputFiles, metafile } = await build({
    stdin: { contents, resolveDir: packages },
    absWorkingDir: packages,
    external: ['react', '@millrace/browser', 'posthog-js'],
    bundle: true,
    minify: true,
    write: false,
    metafile: true,
    format: 'esm',
    platform: 'browser',
    define: { LIBRARY_VERSION: '"0.0.0"', 'process.env.NODE_ENV': '"production"' },
    legalComments: 'none',
    logLevel: 'error',
  });
  const rooms: Record<string, number> = {};
  for (const { inputs } of Object.values(metafile.outputs)) {
    for (const [path, { bytesInOutput }] of Object.entries(inputs)) {
      const room = /\/src\/([^/]+)/.exec(path)?.[1] ?? 'application';
      rooms[room] = (rooms[room] ?? 0) + bytesInOutput;
    }
  }
  return { code: outputFiles.map(({ text }) => text).join(''), rooms };
}
