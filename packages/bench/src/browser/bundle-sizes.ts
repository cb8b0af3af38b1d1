import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { bundleLibrary } from '@millrace/browser/bundle-library';
import { gzipTightly } from '@millrace/browser/gzip-tightly';
import { bundleModules } from '@millrace/stack/src/build/libraries/bundle-modules.ts';
import { entriesOf, libraries, type SourceManifest } from '@millrace/stack/src/build/libraries/libraries.ts';
import { build } from 'esbuild';
import type { SizeMeasurement } from '../report/browser-report.ts';

/** What pages load without a build: ours, and the file that PostHog's snippet asks for. */
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
export async function measureSizes({ millrace, reference }: PageScripts): Promise<SizeMeasurement[]> {
  const directory = await mkdtemp(join(tmpdir(), 'millrace-modules-'));
  try {
    const [browser, react] = await Promise.all(['browser', 'react'].map((name) => writeModules(name, directory)));
    return await Promise.all([
      // Ours as the gateway serves it.
      measure('script', gzipTightly(Buffer.from(millrace)), gzip(reference)),
      measure(
        'slim',
        sizeOf(application(`${browser}/slim.js`)),
        sizeOf(application(referenceFile('dist/module.slim.js'))),
      ),
      measure('react', sizeOf(all(`${react}/index.js`)), sizeOf(all(referenceFile('react/dist/esm/index.js')))),
    ]);
  } finally {
    await rm(directory, { recursive: true });
  }
}

async function measure(
  name: SizeMeasurement['name'],
  ours: Promise<Uint8Array>,
  reference: Promise<Uint8Array>,
): Promise<SizeMeasurement> {
  return { name, bytes: (await ours).length, referenceBytes: (await reference).length };
}

/** The modules of one of the libraries as applications install them. */
async function writeModules(name: string, directory: string): Promise<string> {
  const [source, outDirectory] = [join(packages, name), join(directory, name)];
  const library = libraries.find((one) => one.directory === `packages/${name}`);
  const manifest = JSON.parse(await readFile(join(source, 'package.json'), 'utf8')) as SourceManifest;
  if (library === undefined) throw new Error(`${name} is no library`);
  await bundleModules(source, entriesOf(manifest), { ...library, version: manifest.version, outDirectory });
  return join(outDirectory, 'esm');
}

const all = (library: string) => `export * from '${library}';`;

/** One that does with the library what most do. */
function application(library: string): string {
  return `import posthog from '${library}';
    posthog.init('phc_bench', { api_host: 'https://events.example.com' });
    posthog.identify('ada');
    posthog.capture('order placed', { total: 5 });
    posthog.onFeatureFlags(() => console.log(posthog.getFeatureFlag('beta-nav')));`;
}

/** As most servers do it at best. */
const gzip = async (code: string): Promise<Uint8Array> => gzipSync(code, { level: 9 });

/** Of what an application makes of a library: as a common bundler does for production, React and what the binding binds left out. */
async function sizeOf(contents: string): Promise<Uint8Array> {
  const { outputFiles } = await build({
    stdin: { contents, resolveDir: packages },
    absWorkingDir: packages,
    external: ['react', '@millrace/browser', 'posthog-js'],
    bundle: true,
    minify: true,
    write: false,
    format: 'esm',
    platform: 'browser',
    define: { 'process.env.NODE_ENV': '"production"' },
    legalComments: 'none',
    logLevel: 'error',
  });
  return gzip(outputFiles.map(({ text }) => text).join(''));
}
