import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, readFile, realpath, rm, symlink, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { gzipSync } from 'node:zlib';
import { checkPackage, createPackageFromTarballData } from '@arethetypeswrong/core';
import { bundleLibrary as bundleScript } from '@millrace/browser/bundle-library';
import { gzipTightly } from '@millrace/browser/gzip-tightly';
import { build, stop } from 'esbuild';
import { publint } from 'publint';
import { runProgram } from '../../run-program.ts';
import { buildLibrary, libraries } from './libraries.ts';

const run = promisify(execFile);
const root = join(import.meta.dirname, '../../../../..');

let application: string;
const installed = (name: string) => join(application, 'node_modules', name);

beforeAll(async () => {
  application = await realpath(await mkdtemp(join(tmpdir(), 'millrace-application-')));
  await mkdir(installed('@types'), { recursive: true });
  for (const library of libraries) {
    await buildLibrary(root, library, installed(library.directory.replace('packages', '@millrace')));
  }
  for (const name of ['react', 'react-dom', '@types/react', '@types/react-dom']) {
    await symlink(join(root, 'packages/react/node_modules', name), installed(name));
  }
  await writeFile(join(application, 'package.json'), '{ "type": "module" }');
});
afterAll(async () => {
  await stop();
  await rm(application, { recursive: true, force: true });
});

async function manifestOf(name: string): Promise<Record<string, unknown>> {
  return JSON.parse(await readFile(join(installed(name), 'package.json'), 'utf8')) as Record<string, unknown>;
}

describe.each(['@millrace/browser', '@millrace/react'])('the npm package %s', (name) => {
  it('the package has no publint errors', async () => {
    const { messages } = await publint({ pkgDir: installed(name), strict: true, pack: false });
    expect(messages).toEqual([]);
  });

  it('the package has types that every resolver finds (arethetypeswrong)', async () => {
    const { stdout } = await run('npm', ['pack', '--json', '--pack-destination', application], {
      cwd: installed(name),
    });
    const [{ filename } = { filename: '' }] = JSON.parse(stdout) as { filename: string }[];
    const checked = await checkPackage(createPackageFromTarballData(await readFile(join(application, filename))));
    expect('problems' in checked ? checked.problems : checked).toEqual([]);
  });

  it('the package has type declarations that compilers before TypeScript 5 understand', async () => {
    const written = await readFile(join(installed(name), 'types/index.d.ts'), 'utf8');
    expect(written).toMatch(/^export /m);
    expect(written).not.toContain('export type *');
  });

  it('the package has no dependencies', async () => {
    const { dependencies, optionalDependencies, scripts, devDependencies } = await manifestOf(name);
    expect({ dependencies, optionalDependencies, scripts, devDependencies }).toEqual({});
  });

  it('the package contains its source code for debuggers', async () => {
    const map = JSON.parse(await readFile(join(installed(name), 'esm/index.js.map'), 'utf8')) as {
      sourcesContent: string[];
    };
    expect(map.sourcesContent.length).toBeGreaterThan(0);
  });
});

describe('npm pack', () => {
  it.each(['.', 'packages/browser', 'packages/react'])(
    'fails in the source directory %s and names the directories to pack',
    async (folder) => {
      const { status, output } = await runProgram('npm', ['pack', '--pack-destination', application], {
        cwd: join(root, folder),
      });
      expect(status).not.toBe(0);
      expect(output).toContain('npm run build && npm pack ./packages/browser/dist ./packages/react/dist');
    },
  );

  it('creates packages that an application installs and imports without network access', async () => {
    const user = await mkdtemp(join(tmpdir(), 'millrace-user-'));
    try {
      const folders = libraries.map(({ directory }) => installed(directory.replace('packages', '@millrace')));
      const { stdout } = await run('npm', ['pack', '--json', '--pack-destination', user, ...folders], { cwd: user });
      const packed = JSON.parse(stdout) as { filename: string; files: { path: string }[] }[];
      for (const { files } of packed) {
        const paths = files.map(({ path }) => path);
        expect(paths).toEqual(
          expect.arrayContaining(['README.md', 'esm/index.js', 'types/index.d.ts', 'package.json']),
        );
        expect(paths.filter((path) => /\.test\.|^src\//.test(path))).toEqual([]);
      }
      await writeFile(join(user, 'package.json'), '{ "type": "module" }');
      const files = packed.map(({ filename }) => `./${filename}`);
      await run('npm', ['install', '--offline', '--legacy-peer-deps', '--no-audit', ...files], { cwd: user });
      const program = `console.log(typeof (await import('@millrace/browser')).posthog.capture);`;
      const { stdout: output } = await run(process.execPath, ['--input-type=module', '-e', program], { cwd: user });
      expect(output.trim()).toBe('function');
    } finally {
      await rm(user, { recursive: true, force: true });
    }
  });
});

it.each([
  ['@millrace/browser', ['default', 'posthog']],
  ['@millrace/browser/slim', ['default', 'posthog']],
  ['@millrace/react', ['PostHogProvider', 'useFeatureFlagEnabled']],
  ['@millrace/react/slim', ['PostHogProvider', 'useFeatureFlagEnabled']],
  ['@millrace/react/surveys', ['useThumbSurvey']],
])('%s can be both imported and required outside of a browser', async (entry, names) => {
  const program = `
    import { createRequire } from 'node:module';
    const required = createRequire(process.cwd() + '/')(${JSON.stringify(entry)});
    // React Native defines a global window too.
    globalThis.window = globalThis;
    const imported = await import(${JSON.stringify(entry)});
    required.posthog?.init('phc_key', { api_host: 'https://events.example.com' });
    imported.posthog?.init('phc_key', { api_host: 'https://events.example.com' });
    console.log(JSON.stringify([Object.keys(required), Object.keys(imported)]));`;
  const { stdout, stderr } = await run(process.execPath, ['--input-type=module', '-e', program], { cwd: application });
  const [required, imported] = JSON.parse(stdout) as [string[], string[]];
  expect(stderr).toBe('');
  expect(required).toEqual(expect.arrayContaining(names));
  expect(imported).toEqual(expect.arrayContaining(names));
});

it('the libraries do not refer to globals that are missing in edge runtimes and cause warnings', async () => {
  const code = await bundle(`export * from '@millrace/browser';`);
  expect(code).toContain('"CompressionStream"');
  expect(code).not.toMatch(/(?<![."])\bCompressionStream\b/);
});

it('the react library also works as a script that uses React and the client from global variables', async () => {
  const script = await readFile(join(installed('@millrace/react'), 'umd/index.js'), 'utf8');
  const { runInNewContext } = await import('node:vm');
  const page = {
    React: createRequire(join(root, 'packages/react/package.json'))('react') as object,
    posthog: { capture: () => {} },
    MillraceReact: undefined as undefined | { PostHogContext: { _currentValue: { client: unknown } } },
  };
  runInNewContext(script, { self: page });
  expect(page.MillraceReact?.PostHogContext._currentValue.client).toBe(page.posthog);
});

async function bundle(contents: string, external: string[] = []): Promise<string> {
  const { outputFiles } = await build({
    stdin: { contents, resolveDir: application },
    external,
    bundle: true,
    minify: true,
    write: false,
    format: 'esm',
    define: { 'process.env.NODE_ENV': '"production"' },
  });
  return outputFiles.map(({ text }) => text).join('');
}

it('hooks find the client even if the application imports only hooks', async () => {
  const code = await bundle(`
    import { renderToString } from 'react-dom/server';
    import { createElement } from 'react';
    import { usePostHog } from '@millrace/react';
    globalThis.shown = renderToString(createElement(() => typeof usePostHog()?.capture));`);
  const file = join(application, 'bundled.mjs');
  await writeFile(file, `${code}\nconsole.log(globalThis.shown);\nprocess.exit();`);
  const { stdout } = await run(process.execPath, [file]);
  expect(stdout.trim()).toBe('function');
});

it('an application that uses both import and require shares one client and one context', async () => {
  const code = await bundle(`
    import posthog from '@millrace/browser';
    import { PostHogContext } from '@millrace/react/slim';
    globalThis.isOne = [require('@millrace/browser').default === posthog, require('@millrace/react').PostHogContext === PostHogContext];`);
  const file = join(application, 'both.mjs');
  await writeFile(file, `${code}\nconsole.log(globalThis.isOne.join());\nprocess.exit();`);
  const { stdout } = await run(process.execPath, [file]);
  expect(stdout.trim()).toBe('true,true');
});

const gzip = async (code: Promise<string>) => gzipSync(await code, { level: 9 });

/**
 * Sizes in bytes after gzip compression. `atMost` is the target. `today` is the current size, which must not grow while
 * it is above the target.
 */
const sizes: { what: string; gzipped: () => Promise<Uint8Array>; atMost: number; today: number }[] = [
  {
    what: 'the script that the gateway serves',
    gzipped: async () => gzipTightly(Buffer.from((await bundleScript('array.js')).code)),
    atMost: 18_000,
    today: 23_900,
  },
  {
    what: 'the slim client in an application bundle',
    gzipped: () => gzip(bundle(`import posthog from '@millrace/browser/slim'; globalThis.posthog = posthog;`)),
    atMost: 8000,
    today: 14_700,
  },
  {
    what: 'the complete React binding in an application bundle',
    gzipped: () => gzip(bundle(`export * from '@millrace/react';`, ['react', '@millrace/browser'])),
    atMost: 3000,
    today: 3000,
  },
];

it.each(sizes)('$what has at most $today bytes (target: $atMost)', async ({ gzipped, atMost, today }) => {
  expect((await gzipped()).length).toBeLessThanOrEqual(Math.max(atMost, today));
});

describe('types in an application', () => {
  const modules = [
    ['with bundler resolution', ['--module', 'esnext', '--moduleResolution', 'bundler']],
    ['with Node.js resolution', ['--module', 'nodenext', '--moduleResolution', 'nodenext']],
  ] as const;

  async function compilerErrors(source: string, resolution: readonly string[]): Promise<string> {
    const file = join(application, 'application.tsx');
    await writeFile(file, source);
    const { output } = await runProgram(
      join(root, 'node_modules/.bin/tsc'),
      [
        ...[
          '--noEmit',
          '--ignoreConfig',
          '--strict',
          '--exactOptionalPropertyTypes',
          '--jsx',
          'react-jsx',
          ...resolution,
        ],
        ...['--target', 'es2022', '--lib', 'es2022,dom', '--types', 'react', '--pretty', 'false', file],
      ],
      { cwd: application },
    );
    return output;
  }

  it.each(modules)(
    "narrows types to the application's declared flags and events, and leaves other types unchanged: %s",
    async (_, resolution) => {
      const output = await compilerErrors(declaredByApplication, resolution);
      expect(output).toBe('');
    },
  );

  it.each(modules)(
    "accepts code that was written for PostHog's packages after its imports are changed: %s",
    async (_, resolution) => {
      const written = await readFile(join(import.meta.dirname, 'fixtures/written-for-posthog.tsx'), 'utf8');
      const source = written
        .replaceAll("'posthog-js/react", "'@millrace/react")
        .replaceAll("'posthog-js'", "'@millrace/browser'");
      expect(await compilerErrors(source, resolution)).toBe('');
    },
  );
});

const declaredByApplication = `
import posthog from '@millrace/browser';
import { useFeatureFlagVariantKey } from '@millrace/react';

declare module '@millrace/browser' {
  interface FlagTypes { 'button-color': 'green' | 'orange'; 'beta-nav': boolean }
  interface EventTypes { 'order placed': { total: number; currency?: string } }
}

export function Button() {
  const color: 'green' | 'orange' | undefined = useFeatureFlagVariantKey('button-color');
  // @ts-expect-error: no such variant
  const blue: 'blue' | undefined = useFeatureFlagVariantKey('button-color');
  const other: string | boolean | undefined = useFeatureFlagVariantKey('undeclared');
  const nav: boolean | undefined = posthog.getFeatureFlag('beta-nav');
  posthog.capture('order placed', { total: 5 });
  // @ts-expect-error: a total is a number
  posthog.capture('order placed', { total: '5' });
  posthog.capture('something else', { total: '5' });
  return <button style={{ color }}>{String([blue, other, nav])}</button>;
}
`;
