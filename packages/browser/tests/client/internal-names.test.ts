import { readdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { arch, platform } from 'node:process';
import { build, stop } from 'esbuild';
import { internalNames } from '../../bundle/internal-names.ts';

const source = join(import.meta.dirname, '../../src');
const read = (path: string) => readFileSync(join(source, path), 'utf8');

afterAll(stop);

/**
 * Reads the names from TypeScript's declarations of browser APIs. They are in the compiler's package, whose name
 * depends on the operating system.
 */
function namesOfBrowsers(): Set<string> {
  const compiler = createRequire(createRequire(import.meta.url).resolve('typescript/package.json'));
  const folder = join(dirname(compiler.resolve(`@typescript/typescript-${platform}-${arch}/package.json`)), 'lib');
  const libraries = readdirSync(folder).filter((name) => /^lib\.(dom|es\d+|esnext)\b.*\.d\.ts$/.test(name));
  const text = libraries.map((name) => readFileSync(join(folder, name), 'utf8')).join('\n');
  const declared = text.matchAll(/^ +(?:readonly |static |get |set )*([\w$]+)\??[(:<]/gm);
  return new Set([...declared].map(([, name]) => name ?? ''));
}

test('shortened names are neither public names nor browser API names', () => {
  // The types that applications, the service or stored data depend on. `core.ts` is excluded, because only some of its
  // types are public.
  const files = readdirSync(join(source, 'client')).filter((name) => name !== 'core.ts');
  const paths = [...files.map((name) => `client/${name}`), 'flags/flag-snapshot.ts'];
  const publicWords = new Set(paths.flatMap((path) => read(path).match(/[\w$]+/g) ?? []));
  const ofBrowsers = namesOfBrowsers();
  expect(ofBrowsers.size).toBeGreaterThan(3000);
  expect(internalNames.filter((name) => ofBrowsers.has(name) || publicWords.has(name))).toEqual([]);
});

test('shortened names occur in the code, but never in quotes', async () => {
  const { outputFiles } = await build({
    entryPoints: ['snippet.ts', 'index.ts', 'slim.ts'].map((name) => join(source, name)),
    ...({ bundle: true, write: false, format: 'esm', outdir: 'unused' } as const),
  });
  const code = outputFiles.map(({ text }) => text).join('\n');
  const unused = internalNames.filter((name) => !new RegExp(`\\b${name}\\b`).test(code));
  const quoted = internalNames.filter((name) => new RegExp(`(['"\`])${name}\\1`).test(code));
  expect([unused, quoted]).toEqual([[], []]);
});
